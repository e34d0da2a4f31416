import { factorKinds } from '../../connection-kinds.ts';
import type { Context } from '../../context.ts';
import { hold } from '../../database/hold.ts';
import type { Account } from '../../database/models/account.ts';
import type { SignInMethod } from '../../database/models/session.ts';
import type { Refusal } from '../../errors.ts';
import { isEmailVerified } from '../people/accounts/account.ts';
import { resumePasskeys } from '../people/passkeys/passkey.ts';
import { findBrowser } from '../people/sessions/browser.ts';
import { emailUnverified, signInFailed } from '../people/sessions/schema.ts';
import { startSession } from '../people/sessions/start.ts';
import { secondFactorRequired } from '../people/two-factor/asking.ts';
import { type SecondFactor, useSecondFactor } from '../people/two-factor/second-factor.ts';
import { isRemoved } from '../tenancy/memberships/removed.ts';
import { findMethodRefusal } from '../tenancy/signin-settings/methods.ts';

// Only this file issues a session. It checks in this order: password unchanged, account enabled,
// e-mail verified, not removed, method allowed, and second factor.

/** How the person has proved who they are. */
export interface SignIn {
  method: SignInMethod;
  /** The organization's connection that the person signed in through, if any. */
  connection?: { id: string; organizationId: string };
  /** The canonical address that a social provider guarantees; null if it guarantees none. */
  provenEmail?: string | null;
  /** The second factor that was passed, or null; absent if this sign-in asks for none. */
  secondFactor?: SecondFactor | null;
  /**
   * Whether to mark the session as `unapproved`. A password that is marked also marks it (security
   * I8).
   */
  unapproved?: boolean;
}

/** A session that has begun, or the account whose second factor must be asked for first. */
export type Begun = { session: Awaited<ReturnType<typeof startSession>> } | { asks: Account };

/**
 * Begins a session for a person who has proved that the account is theirs. Call it inside the
 * sign-in's transaction, and roll that back if the second factor must be asked for.
 */
export async function beginSession(ctx: Context, account: Account, via: SignIn): Promise<Begun> {
  // `alone` if the account may change next: a second factor stores its time step, and a person who
  // comes through a connection may join the organization.
  const plain = via.connection === undefined && !via.secondFactor;
  const now = await hold.account(account.id, plain ? 'beside' : 'alone');
  if (now === null) throw signInFailed('account_disabled');
  const changed = via.method === 'password' && now.passwordHash !== account.passwordHash;
  if (changed) throw signInFailed('changed_meanwhile');
  const bar = await findBar(ctx, now, via);
  if (bar !== null) throw bar;
  const { method, connection = null, secondFactor } = via;
  const unapproved = via.unapproved === true || (method === 'password' && now.passwordUnapproved);
  const factor = secondFactor === undefined ? null : await useSecondFactor(ctx, now, secondFactor);
  if (factor === 'missing') return { asks: now };
  // The second factor may have been added when an organization's provider was the only proof. A
  // session by single sign-on or passkey then stores that organization (security P12).
  const keepsProvider = method === 'passkey' || factorKinds.includes(method);
  const vouchedBy = keepsProvider ? (factor?.vouchedBy ?? null) : null;
  // The person proved the account in another way since the restore that suspended them.
  if (method !== 'passkey' && !unapproved && now.hasPasskey) await resumePasskeys(account.id);
  const begun = {
    method,
    connection,
    passedSecondFactor: factor !== null,
    vouchedBy,
    unapproved,
    browser: await findBrowser(ctx, now.id),
  };
  return { session: await startSession(ctx, account, begun) };
}

/** The facts of an account that decide whether a session may begin. */
export type Entrant = Pick<Account, 'id' | 'email' | 'disabledAt' | 'emailProof' | 'awaitsCode'>;

/** The refusal if this method may not begin a session for the account, or null. Read-only. */
export async function findBar(
  ctx: Context,
  account: Entrant,
  via: Pick<SignIn, 'method' | 'connection' | 'provenEmail'>,
): Promise<Refusal | null> {
  if (account.disabledAt !== null) return signInFailed('account_disabled');
  if (!isEmailVerified(ctx, account)) return emailUnverified();
  const organizationId = via.connection?.organizationId;
  if (organizationId !== undefined && (await isRemoved(ctx, organizationId, account)))
    return signInFailed('deactivated');
  return findMethodRefusal(ctx, account, via);
}

/** Returns the session that has begun; else refuses with `second_factor_required`. */
export function requireSession(begun: Begun) {
  if ('session' in begun) return begun.session;
  throw secondFactorRequired(begun.asks);
}
