import { Op } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { Account, hasSecondFactor } from '../../../database/models/account.ts';
import { Passkey } from '../../../database/models/passkey.ts';
import { unsynced } from '../../../database/transaction.ts';
import type { Reason } from '../../../reasons.ts';
import { networkOf } from '../../../text/address.ts';
import { recordEvent, tallyEvent } from '../../foundation/events/record.ts';
import { id, instant, viewOf } from '../../foundation/fields.ts';
import { notify } from '../../foundation/mail/notify.ts';
import { deleteCodesWithoutFactor } from '../codes/recovery-code.ts';
import {
  endSessions,
  endSessionsPastSecondFactor,
  forgetSecondFactor,
  ownSessionOf,
} from '../sessions/end.ts';
import { suspended } from '../tokens/token.ts';
import type { Purpose } from './challenge.ts';
import type { NewCredential } from './registration.ts';

// The rows of passkeys. `accounts.has_passkey` changes only here, together with the rows. Call the
// functions that write inside a transaction, with the account locked.

export const passkeyView = z.object({
  id,
  name: z.string(),
  createdAt: instant,
  lastUsedAt: instant.nullable(),
  backedUp: z.boolean().describe('Whether the authenticator has copied it to other devices.'),
  signsIn: z
    .boolean()
    .describe(
      'Whether it can sign in without a password, if the settings allow it, or is only a second factor.',
    ),
  /** Present only while the passkey is suspended, because a backup was restored. */
  suspendedAt: instant.optional(),
});

/** A passkey as its owner and the operator see it. */
export function viewPasskey(passkey: Passkey) {
  // `signsIn` is null until the first sign-in shows whether the passkey can sign in.
  const { suspendedAt: _, ...view } = viewOf(passkeyView, passkey);
  return { ...view, signsIn: passkey.signsIn !== false, ...suspended(passkey) };
}

/** The account of a passkey, as an event and a mail name it. */
type Holder = Pick<
  Account,
  'id' | 'name' | 'email' | 'emailProof' | 'totpEnabledAt' | 'hasPasskey'
>;

/**
 * Stores a new passkey, and ends sessions as `endSessionsPastSecondFactor` does. The caller
 * notifies the person.
 */
export async function addPasskey(
  ctx: Context,
  account: Holder,
  given: NewCredential & { name: string; vouchedBy: string | null },
): Promise<Passkey> {
  const { id: accountId } = account;
  const row = { id: orderedId(), accountId, createdAt: ctx.now, ...given };
  const passkey = await Passkey.create(row);
  await Account.update({ hasPasskey: true }, { where: { id: accountId } });
  // The account had no second factor, so sessions can only have passed an earlier one.
  if (!hasSecondFactor(account)) await forgetSecondFactor(accountId, null);
  await endSessionsPastSecondFactor(ctx, accountId, ownSessionOf(ctx.actor));
  await recordEvent(ctx, { kind: 'user.passkey.added', ...eventOf(account, passkey) });
  return passkey;
}

/**
 * Removes passkeys, and ends the sessions that began with a passkey, except `but`. In the other
 * sessions, except `but`, the second factor no longer counts as passed (security P15). Notifies the
 * person, except `inReset`, where the caller notifies them of the reset.
 */
export async function removePasskeys(
  ctx: Context,
  account: Holder,
  passkeys: Passkey[],
  {
    but = null,
    reason,
    inReset = false,
  }: { but?: string | null; reason?: string; inReset?: boolean } = {},
): Promise<void> {
  if (passkeys.length === 0) return;
  const { id: accountId } = account;
  await deletePasskeys(
    accountId,
    passkeys.map(({ id }) => id),
  );
  await endSessions(ctx, { accountId, method: 'passkey', but });
  await forgetSecondFactor(accountId, but);
  for (const passkey of passkeys) {
    const about = eventOf(account, passkey);
    const data = { ...about.data, ...(reason === undefined ? {} : { reason }) };
    await recordEvent(ctx, { kind: 'user.passkey.removed', ...about, data });
    if (!inReset) await notify(ctx, account, { what: 'passkey-removed', name: passkey.name });
  }
}

/**
 * Deletes these passkeys of an account; without `ids`, all of them. Deletes the recovery codes too
 * if no other second factor is left.
 */
export async function deletePasskeys(accountId: string, ids?: string[]): Promise<void> {
  await Passkey.destroy({ where: { accountId, ...(ids === undefined ? {} : { id: ids }) } });
  const hasPasskey = (await Passkey.count({ where: { accountId } })) > 0;
  await Account.update({ hasPasskey }, { where: { id: accountId } });
  await deleteCodesWithoutFactor(accountId);
}

/** The passkey of this account, or null. */
export function findPasskey(accountId: string, id: string): Promise<Passkey | null> {
  return Passkey.findOne({ where: { id, accountId } });
}

/** Turns the passkeys of an account into second factors that cannot sign in without a password. */
export async function restrictPasskeys(accountId: string): Promise<void> {
  await Passkey.update({ signsIn: false }, { where: { accountId } });
}

/** Ends the suspension by a restore. Call it where the person signs in without a passkey. */
export async function resumePasskeys(accountId: string): Promise<void> {
  await Passkey.update(
    { suspendedAt: null },
    { where: { accountId, suspendedAt: { [Op.ne]: null } } },
  );
}

/** The subject and the data of an event about a passkey. */
function eventOf({ id, name }: Holder, passkey: Passkey) {
  return {
    subject: { type: 'user', id, name },
    data: { passkey: passkey.id, name: passkey.name },
  };
}

/**
 * Records a passkey that was refused in a registration, as a second factor or to confirm. There is
 * one counted event per account, use and reason in 15 minutes (security X5).
 */
export async function recordRefusedPasskey(
  ctx: Context,
  account: Pick<Account, 'id' | 'name'>,
  { purpose, reason }: { purpose: Purpose; reason: Reason },
): Promise<void> {
  const { id, name } = account;
  const address = networkOf(ctx.client.address);
  const subject = { type: 'user', id, name };
  const what = {
    kind: 'user.passkey.refused' as const,
    subject,
    data: { purpose, reason, address },
  };
  await unsynced(() => tallyEvent(ctx, what, { of: id, apart: `${purpose} ${reason}` }));
}
