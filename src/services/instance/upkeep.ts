import type { Context } from '../../context.ts';
import { deleteOld, type Stop } from '../../database/delete-batches.ts';
import { hold } from '../../database/hold.ts';
import { Account } from '../../database/models/account.ts';
import { Counter } from '../../database/models/counter.ts';
import { SamlAnswer } from '../../database/models/saml-answer.ts';
import { ScimRequest } from '../../database/models/scim-request.ts';
import { SpentState } from '../../database/models/spent-state.ts';
import { SsoAttempt } from '../../database/models/sso-attempt.ts';
import { refreshStatistics } from '../../database/select.ts';
import { transaction } from '../../database/transaction.ts';
import { mayDeleteExpired } from '../foundation/clock/clock.ts';
import { eraseDeleted } from '../foundation/events/erase.ts';
import { sweepEvents } from '../foundation/events/operations.ts';
import { recordEvent } from '../foundation/events/record.ts';
import { dropSpentKeys } from '../foundation/keys/operations.ts';
import { reseal } from '../foundation/keys/reseal.ts';
import { dropRetiredSamlKeys } from '../foundation/keys/saml-key.ts';
import { epochSeconds } from '../foundation/limits/limit.ts';
import { isMailConfigured } from '../foundation/mail/configured.ts';
import { firstKey } from '../foundation/page.ts';
import { after } from '../foundation/time.ts';
import { unconfirmedSeconds } from '../people/codes/code.ts';
import { sweepCredentials } from '../people/credentials/credentials.ts';
import { sweepBrowsers } from '../people/sessions/browser.ts';
import { attemptDays } from '../signin/attempts.ts';
import { sweepDeliveries } from '../tenancy/webhooks/delivery/deliver.ts';
import { sweepDaemons } from './daemons.ts';
import { countWaiting, findUnconfirmed, isUnconfirmed, type Waiting } from './upkeep.sql.ts';

/**
 * Deletes obsolete rows: expired credentials, states and counts, unneeded signing keys, old records
 * of activity, and unverified accounts. Erases deleted people from events. A run deletes a limited
 * number of rows, in small transactions. After a jump of the clock, it does not delete anything. It
 * also re-seals values that are still sealed under a former key, and refreshes statistics.
 */
export async function sweepExpired(ctx: Context, { stop }: { stop?: Stop } = {}): Promise<void> {
  if (await mayDeleteExpired(ctx)) await deleteExpired(ctx, stop);
  if (stop?.aborted) return;
  // Seals values again that another process sealed under the replaced master key (security X1).
  await reseal(ctx);
  await refreshStatistics();
}

async function deleteExpired(ctx: Context, stop: Stop): Promise<void> {
  await deleteOld(SpentState, { column: 'expires_at', before: ctx.now }, stop);
  await deleteOld(SamlAnswer, { column: 'expires_at', before: ctx.now }, stop);
  await sweepCredentials(ctx, stop);
  await sweepBrowsers(ctx, stop);
  await transaction(() => dropSpentKeys(ctx));
  await transaction(() => dropRetiredSamlKeys(ctx));
  await deleteOld(Counter, { column: 'expires_at', before: epochSeconds(ctx.now) }, stop);
  const old = { column: 'at', before: after(ctx.now, -attemptDays * 86_400) };
  await deleteOld(SsoAttempt, old, stop);
  await deleteOld(ScimRequest, old, stop);
  await sweepDeliveries(ctx, stop);
  await sweepUnconfirmed(ctx, stop);
  await sweepEvents(ctx, stop);
  await eraseDeleted(ctx, stop);
  await sweepDaemons(ctx);
}

/** Batches are small, so that other writers wait only for one batch. */
const batch = 50;
const maxBatches = 400;

/**
 * Deletes accounts that signed up over seven days ago and never verified their address. So an
 * unused sign-up does not block the address. Accounts in use stay. Without mail, no account is
 * deleted: unverified accounts can then be in use.
 */
async function sweepUnconfirmed(ctx: Context, stop: Stop): Promise<void> {
  if (!isMailConfigured(ctx)) return;
  const before = after(ctx.now, -unconfirmedSeconds);
  let last = firstKey;
  for (let batches = 0; batches < maxBatches && !stop?.aborted; batches += 1) {
    const found = await findUnconfirmed(before, last, batch);
    await transaction(async () => {
      for (const id of found) await forget(ctx, id, before);
    });
    if (found.length < batch) return;
    last = found.at(-1) ?? last;
  }
}

async function forget(ctx: Context, id: string, before: Date): Promise<void> {
  const account = await hold.account(id);
  // Skip accounts that were verified, or became members, since the query.
  if (account === null || !(await isUnconfirmed(id, before))) return;
  await Account.destroy({ where: { id } });
  await recordEvent(ctx, {
    kind: 'user.deleted',
    subject: { type: 'user', id, name: account.email ?? account.name },
  });
}

/** Waiting messages by kind: their number, and the seconds since the oldest was due. */
export type Backlog = Record<'mail' | 'webhook', { waiting: number; seconds: number }>;

/** Counts waiting messages, with one small query for each kind. */
export async function countBacklog(now: Date): Promise<Backlog> {
  const { mail, webhook } = await countWaiting();
  return { mail: shown(mail, now), webhook: shown(webhook, now) };
}

function shown(row: Waiting | undefined, now: Date) {
  const due = row?.oldest ?? now;
  return {
    waiting: row?.waiting ?? 0,
    seconds: Math.max(0, (now.getTime() - due.getTime()) / 1000),
  };
}
