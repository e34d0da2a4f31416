import type { Context } from '../../context.ts';
import type { LdapConnection } from '../../database/models/ldap-connection.ts';
import { assertNoTransaction, transaction, unsynced } from '../../database/transaction.ts';
import { Refusal } from '../../errors.ts';
import { tallyEvent } from '../events/tally.ts';
import { countUp } from '../limits/count.ts';
import { beginTry, endTry, isJudged, type Secret } from '../limits/judged.ts';
import { bindLimit, refusedBindLimit } from '../limits/ldap.ts';
import { giveBack, requirePlace, requireRoom } from '../limits/spend.ts';

/** The account that searches, as it is about to be bound. */
type Bind = Pick<LdapConnection, 'id' | 'organizationId' | 'uri' | 'bindDn'> & {
  /** As it is stored; null for one that is not. */
  bindPassword: string | null;
};

/** What a directory made of the account: `unasked` when it did not come to that. */
export type BindOutcome = 'accepted' | 'refused' | 'unasked';

/**
 * Does what binds the account that searches. Its password may be a guess at anybody's: one that the directory has not
 * judged takes one of the organization's tries, for good if it is refused, however it is tried. Stored, it is counted
 * once, for what is known of it is no news; but it is not refused so often that an account is locked (security L8).
 * Refuses `too_many_requests`, with an event.
 */
export async function tryingBind<T>(
  ctx: Context,
  bind: Bind,
  work: () => Promise<T>,
  outcomeOf: (ended: { value: T } | { error: unknown }) => BindOutcome,
): Promise<T> {
  if (ctx.config.limits.enabled === 'off') return work();
  const secret = secretOf(bind);
  const judged = secret !== null && (await isJudged(ctx, secret));
  const admitted = judged ? requireRoom(ctx, [refusedBindLimit(ctx, secret)]) : pay(ctx, bind, secret);
  await admitted.catch((error: unknown) => turnAway(ctx, bind, error));
  const ended = await work().then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  const outcome = outcomeOf(ended);
  if (!judged) await settle(ctx, bind, secret, outcome);
  if (secret !== null && outcome === 'refused')
    await unsynced(async () => void (await countUp(ctx, refusedBindLimit(ctx, secret))));
  if ('error' in ended) throw ended.error;
  return ended.value;
}

/** The stored password. For another server or account it must be stored anew (security S10), and is another one. */
function secretOf({ id, bindPassword }: Bind): Secret | null {
  return bindPassword === null ? null : { name: 'ldap bind password', of: id, apart: bindPassword };
}

/** Committed before the directory hears of it, so that parallel guesses cannot pass together. */
async function pay(ctx: Context, { organizationId }: Bind, secret: Secret | null): Promise<void> {
  assertNoTransaction('counting a bind');
  await unsynced(async () => {
    if (secret !== null && !(await beginTry(ctx, secret))) return;
    await requirePlace(ctx, bindLimit(ctx, organizationId), 'Too many new bind passwords were refused.');
  });
}

async function settle(
  ctx: Context,
  { organizationId }: Bind,
  secret: Secret | null,
  outcome: BindOutcome,
): Promise<void> {
  await transaction(async () => {
    const last = secret === null || (await endTry(ctx, secret, outcome !== 'unasked'));
    if (last && outcome !== 'refused') await giveBack(ctx, [bindLimit(ctx, organizationId)]);
  });
}

async function turnAway(
  ctx: Context,
  { id, organizationId, uri, bindDn }: Bind,
  error: unknown,
): Promise<never> {
  if (error instanceof Refusal && error.code === 'too_many_requests') {
    const subject = { type: 'ldap', id, name: uri };
    const what = { kind: 'ldap.bind.limited' as const, organizationId, subject, data: { bindDn } };
    await transaction(() => tallyEvent(ctx, what, { of: organizationId, apart: '' }));
  }
  throw error;
}
