import type { Context } from '../../../context.ts';
import type { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { assertNoTransaction, transaction, unsynced } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import type { DirectoryClient } from '../../../outbound/directory/directory.ts';
import { tallyEvent } from '../../foundation/events/record.ts';
import {
  acceptedBindMark,
  bindLimit,
  bindTryLimits,
  operatorBindLimit,
  operatorBindsLimit,
  refusedBindLimit,
  type StoredPassword,
  sharedBindTries,
} from '../../foundation/limits/ldap.ts';
import {
  countUp,
  giveBack,
  giveBackLast,
  type Limit,
  requirePlace,
  secondsUntilRoom,
} from '../../foundation/limits/limit.ts';
import { aboutLdap } from '../connections/ldap.ts';

// Security L8. A bind password may be a guess, so an attempt counts before the password is sent:
// for the actor, their client, a stored password and the organization. The counts are returned
// unless the directory refuses the bind. Concurrent attempts with one stored password share one
// count of the organization: the first takes it, and the last to finish returns it. Exceptions: a
// stored password that the directory accepted at its last use, and any password that the operator
// sends. These count only after a refusal.

/** The service account of the next bind. */
type Bind = Pick<LdapConnection, 'id' | 'organizationId' | 'uri' | 'bindDn'> & {
  /** Sealed, as stored; null if the password is not stored. */
  bindPassword: string | null;
};

/**
 * Wraps a directory client to record whether the directory accepts the service account's password.
 */
export type Watch = (visit: DirectoryClient) => DirectoryClient;

/** The directory's answer to a password. */
type Verdict = 'accepted' | 'refused';

/**
 * Runs `work`, which binds as the service account, and counts the attempt. After too many refused
 * passwords, records an event and refuses with `too_many_requests`.
 */
export async function tryingBind<T>(ctx: Context, bind: Bind, work: (watch: Watch) => Promise<T>) {
  if (ctx.config.limits.enabled === 'off') return work((visit) => visit);
  const accepted = await wasAccepted(ctx, bind);
  const paid = !accepted && ctx.actor.kind !== 'operator';
  if (paid) await pay(ctx, bind).catch((error: unknown) => turnAway(ctx, bind, error));
  const heard = new Set<Verdict>();
  try {
    return await work((visit) => watched(visit, heard));
  } finally {
    if (heard.has('refused')) await refuse(ctx, bind, paid);
    else if (!accepted) await release(ctx, bind, paid, heard.has('accepted'));
  }
}

/**
 * A pause in which `doctor` does not send a bind password: its length, and the limit that caused
 * it.
 */
export interface Rest {
  seconds: number;
  refused: number;
  everywhere: boolean;
}

/**
 * The pause of `doctor` after too many refused passwords: repeated runs would lock the service
 * account. Null if `doctor` may send the password. There is no pause if the directory accepted the
 * password at its last use.
 */
export async function restOfDoctor(ctx: Context, bind: Bind): Promise<Rest | null> {
  if (ctx.config.limits.enabled === 'off' || (await wasAccepted(ctx, bind))) return null;
  const own = operatorBindLimit(ctx, bind.organizationId);
  for (const limit of [own, operatorBindsLimit(ctx)]) {
    const seconds = await secondsUntilRoom(ctx, [limit]);
    if (seconds > 0) return { seconds, refused: limit.max, everywhere: limit !== own };
  }
  return null;
}

/** Seconds until a sign-in may send the stored bind password; 0 if it may now. */
export async function restOfSignIns(ctx: Context, bind: Bind): Promise<number> {
  if (ctx.config.limits.enabled === 'off' || (await wasAccepted(ctx, bind))) return 0;
  const stored = storedOf(bind);
  const refused = stored === null ? [] : [refusedBindLimit(ctx, stored)];
  return secondsUntilRoom(ctx, [...refused, bindLimit(ctx, bind.organizationId)]);
}

/**
 * Identifies the stored password by its sealed text. A changed server or account needs the password
 * again (security S10), so it gets a new sealed text and new counts.
 */
function storedOf({ id, bindPassword }: Bind): StoredPassword | null {
  return bindPassword === null ? null : { of: id, apart: bindPassword };
}

async function wasAccepted(ctx: Context, bind: Bind): Promise<boolean> {
  const stored = storedOf(bind);
  return stored !== null && (await secondsUntilRoom(ctx, [acceptedBindMark(stored)])) > 0;
}

/**
 * Notes each answer to the bind. An error does not show whether the password is right, so it is not
 * noted.
 */
function watched(visit: DirectoryClient, heard: Set<Verdict>): DirectoryClient {
  return {
    ...visit,
    search: async (account, query) => {
      const answer = await visit.search(account, query);
      heard.add(answer.ok || answer.at === 'search' ? 'accepted' : 'refused');
      return answer;
    },
  };
}

// The next three functions lock counters in the same order: first those of `limitsOf`, then the
// other counters of the stored password, and then the counter of the organization.

/**
 * Counts and commits an attempt before the bind, so that parallel guesses cannot exceed the limit.
 */
async function pay(ctx: Context, bind: Bind): Promise<void> {
  assertNoTransaction('counting a bind');
  const message = 'Too many bind passwords were refused.';
  const stored = storedOf(bind);
  await unsynced(async () => {
    for (const limit of limitsOf(ctx, bind)) await requirePlace(ctx, limit, message);
    if (stored === null || (await countUp(ctx, sharedBindTries(stored)))?.used === 1)
      await requirePlace(ctx, bindLimit(ctx, bind.organizationId), message);
  });
}

/** Counts a refused attempt if `pay` did not, and forgets that the password was accepted. */
async function refuse(ctx: Context, bind: Bind, paid: boolean): Promise<void> {
  const stored = storedOf(bind);
  await unsynced(async () => {
    if (!paid) for (const limit of limitsOf(ctx, bind)) await countUp(ctx, limit);
    if (stored === null) return;
    await giveBack(ctx, [acceptedBindMark(stored)]);
    if (paid || ctx.actor.kind === 'operator') return;
    if ((await countUp(ctx, sharedBindTries(stored)))?.used === 1)
      await countUp(ctx, bindLimit(ctx, bind.organizationId));
  });
}

/** Returns the counts of an attempt that was not refused. Remembers an accepted stored password. */
async function release(ctx: Context, bind: Bind, paid: boolean, accepted: boolean): Promise<void> {
  const stored = storedOf(bind);
  await transaction(async () => {
    if (paid) for (const limit of limitsOf(ctx, bind)) await giveBack(ctx, [limit]);
    if (stored !== null && accepted) await countUp(ctx, acceptedBindMark(stored));
    if (paid && (stored === null || (await giveBackLast(ctx, sharedBindTries(stored)))))
      await giveBack(ctx, [bindLimit(ctx, bind.organizationId)]);
  });
}

function limitsOf(ctx: Context, bind: Bind): Limit[] {
  return bindTryLimits(ctx, bind.organizationId, storedOf(bind));
}

async function turnAway(ctx: Context, bind: Bind, error: unknown): Promise<never> {
  if (error instanceof Refusal && error.code === 'too_many_requests') {
    const data = { bindDn: bind.bindDn };
    const what = { kind: 'ldap.bind.limited' as const, ...aboutLdap(bind), data };
    await transaction(() => tallyEvent(ctx, what, { of: bind.organizationId, apart: '' }));
  }
  throw error;
}
