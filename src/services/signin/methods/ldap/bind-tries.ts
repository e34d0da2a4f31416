import type { Context } from '../../../../context.ts';
import type { LdapConnection } from '../../../../database/models/ldap-connection.ts';
import { assertNoTransaction, transaction, unsynced } from '../../../../database/transaction.ts';
import { Refusal } from '../../../../errors.ts';
import type { DirectoryVisit } from '../../../../outbound/outbound.ts';
import { tallyEvent } from '../../../foundation/events/tally.ts';
import { countUp } from '../../../foundation/limits/count.ts';
import {
  beginTry,
  endTry,
  isAccepted,
  type Secret,
  type Verdict,
} from '../../../foundation/limits/judged.ts';
import {
  bindLimit,
  bindTryLimits,
  operatorBindLimit,
  operatorBindsLimit,
} from '../../../foundation/limits/ldap.ts';
import { giveBack, requirePlace, secondsUntilRoom } from '../../../foundation/limits/spend.ts';

/** The account that searches, as it is about to be bound. */
type Bind = Pick<LdapConnection, 'id' | 'organizationId' | 'uri' | 'bindDn'> & {
  /** As it is stored; null for one that is not. */
  bindPassword: string | null;
};

/** Tells of every search whether the directory took the account's password. */
export type Watch = (visit: DirectoryVisit) => DirectoryVisit;

/**
 * Does what binds the account that searches, by a visit that is watched. Its password may be a guess at anybody's, so a
 * try is counted before it is sent, and given back when the directory did not say no to the bind. A stored one that was
 * accepted when it was last judged goes free, and takes its place when it is refused after all: what accepted it may have
 * been another server. Refuses `too_many_requests`, with an event (security L8). The operator may always try: they have the
 * passwords anyway, and what they try uses up no place of others.
 */
export async function tryingBind<T>(
  ctx: Context,
  bind: Bind,
  work: (watch: Watch) => Promise<T>,
): Promise<T> {
  if (ctx.config.limits.enabled === 'off') return work((visit) => visit);
  const stored = secretOf(bind);
  const free = stored !== null && (await isAccepted(ctx, stored));
  const pays = !free && ctx.actor.kind !== 'operator';
  if (pays) await pay(ctx, bind, stored).catch((error: unknown) => turnAway(ctx, bind, error));
  const heard = new Set<Verdict>();
  try {
    return await work((visit) => watched(visit, heard));
  } finally {
    const verdict = heard.has('refused') ? 'refused' : heard.has('accepted') ? 'accepted' : null;
    if (pays) await settle(ctx, bind, stored, verdict);
    else if (verdict === 'refused') await charge(ctx, bind, stored);
    else if (verdict === 'accepted' && stored !== null && !free) await remember(ctx, bind, stored);
  }
}

/** Why doctor sends no bind password for a while, and for how many seconds. */
export interface Rest {
  seconds: number;
  refused: number;
  everywhere: boolean;
}

/**
 * The rest that doctor takes because directories have refused the operator's passwords, this one or all together: run in
 * a loop, it would lock the account there. A password that was accepted when it was last judged is sent, which is null.
 */
export async function restOfDoctor(ctx: Context, bind: Bind): Promise<Rest | null> {
  const stored = secretOf(bind);
  if (ctx.config.limits.enabled === 'off' || (stored !== null && (await isAccepted(ctx, stored))))
    return null;
  const own = operatorBindLimit(ctx, bind.organizationId);
  for (const limit of [own, operatorBindsLimit(ctx)]) {
    const seconds = await secondsUntilRoom(ctx, [limit]);
    if (seconds > 0) return { seconds, refused: limit.most, everywhere: limit !== own };
  }
  return null;
}

/** The stored password. For another server or account it must be stored anew (security S10), and is another one. */
function secretOf({ id, bindPassword }: Bind): Secret | null {
  return bindPassword === null ? null : { name: 'ldap bind password', of: id, apart: bindPassword };
}

/** Only the directory's own no counts: one that is busy, breaks off or talks nonsense has judged nothing. */
function watched(visit: DirectoryVisit, heard: Set<Verdict>): DirectoryVisit {
  return {
    ...visit,
    search: async (account, query) => {
      const answer = await visit.search(account, query);
      heard.add(answer.ok || answer.at === 'search' ? 'accepted' : 'refused');
      return answer;
    },
  };
}

// All three lock in the same order: the limits of the try, the password, the organization.

/** Committed before the directory hears of it, so that parallel guesses cannot pass together. */
async function pay(ctx: Context, { organizationId }: Bind, stored: Secret | null): Promise<void> {
  assertNoTransaction('counting a bind');
  const message = 'Too many bind passwords were refused.';
  await unsynced(async () => {
    for (const limit of bindTryLimits(ctx, organizationId, stored)) await requirePlace(ctx, limit, message);
    if (stored !== null && !(await beginTry(ctx, stored))) return;
    await requirePlace(ctx, bindLimit(ctx, organizationId), message);
  });
}

async function settle(
  ctx: Context,
  { organizationId }: Bind,
  stored: Secret | null,
  verdict: Verdict | null,
): Promise<void> {
  await transaction(async () => {
    if (verdict !== 'refused')
      for (const limit of bindTryLimits(ctx, organizationId, stored)) await giveBack(ctx, [limit]);
    const unstored = verdict === 'refused' ? 'as it is' : 'back';
    const price = stored === null ? unstored : await endTry(ctx, stored, verdict);
    if (price === 'back') await giveBack(ctx, [bindLimit(ctx, organizationId)]);
    if (price === 'due') await countUp(ctx, bindLimit(ctx, organizationId));
  });
}

/** Counts a refused try that was not paid for: of a password that had been accepted, or the operator's. */
async function charge(ctx: Context, { organizationId }: Bind, stored: Secret | null): Promise<void> {
  await unsynced(async () => {
    for (const limit of bindTryLimits(ctx, organizationId, stored)) await countUp(ctx, limit);
    if (stored !== null && (await endTry(ctx, stored, 'refused')) === 'due')
      await countUp(ctx, bindLimit(ctx, organizationId));
  });
}

/** Remembers that the directory took the stored password from the operator; another process may be paying for it just now. */
async function remember(ctx: Context, { organizationId }: Bind, stored: Secret): Promise<void> {
  await transaction(async () => {
    const first = await beginTry(ctx, stored);
    const price = await endTry(ctx, stored, 'accepted');
    if (price === 'back' && !first) await giveBack(ctx, [bindLimit(ctx, organizationId)]);
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
