import type { Context } from '../../../context.ts';
import {
  type Account,
  hasSecondFactor,
  passedCurrentFactor,
} from '../../../database/models/account.ts';
import { Session } from '../../../database/models/session.ts';
import { Refusal } from '../../../errors.ts';
import { after } from '../../foundation/time.ts';
import { askForPasskey } from '../passkeys/assertion.ts';
import { ownSessionOf } from '../sessions/end.ts';
import { marksOf, marksOfSession } from '../tokens/token.ts';
import { factorsOf } from './asking.ts';

// Adding something that outlives the session, such as a passkey, needs a recent proof of identity.
// A stolen session is not enough. If the account has a second factor, neither is a sign-in without
// it (security P16).

const recentSeconds = 10 * 60;

/**
 * Refuses with `recent_sign_in_required` unless the session passed the account's second factor in
 * the ten minutes before `at`, which is now by default. Without a second factor, the session must
 * have begun or been confirmed then.
 */
export async function requireRecentSignIn(
  ctx: Context,
  account: Account,
  { browser, at }: { browser?: string | undefined; at?: Date } = {},
): Promise<void> {
  if (!(await isRecentlyProven(ctx, account, at)))
    throw await recentSignInRequired(ctx, account, browser);
}

/** The refusal that tells the person how to confirm. */
export async function recentSignInRequired(
  ctx: Context,
  account: Account,
  given?: string,
): Promise<Refusal> {
  const { methods, asked } = await askToConfirm(ctx, account, given);
  return new Refusal('recent_sign_in_required', 'Confirm that it is you first.', {
    hint:
      methods.length === 0
        ? 'Sign out, and sign in again.'
        : { technical: 'Call POST /api/v1/auth/confirm in this session, or sign in again.' },
    extra: { methods, ...(asked === null ? {} : { passkeyOptions: asked.options }) },
    ...(asked === null ? {} : { browser: asked.browser }),
  });
}

/** The ways in which the person can confirm, with the options for a passkey if that is a way. */
export async function askToConfirm(ctx: Context, account: Account, given: string | undefined) {
  const bound = { purpose: 'confirm', accountId: account.id } as const;
  const asked = account.hasPasskey ? await askForPasskey(ctx, bound, given) : null;
  return { methods: await waysToConfirm(ctx, account), asked };
}

/**
 * Whether the person confirmed who they are in this session within the ten minutes before `at`, or
 * later.
 */
export async function isRecentlyProven(
  ctx: Context,
  account: Account,
  at: Date = ctx.now,
): Promise<boolean> {
  const session = await findOwnSession(ctx);
  if (session === null) return false;
  const { createdAt, confirmedAt, secondFactorAt } = session;
  if (hasSecondFactor(account) && !passedCurrentFactor(session, account)) return false;
  const proofs = hasSecondFactor(account) ? [secondFactorAt] : [createdAt, confirmedAt];
  return proofs.some((proof) => proof !== null && at < after(proof, recentSeconds));
}

/** The ways in which the person can confirm. If there are none, only a new sign-in helps. */
async function waysToConfirm(
  ctx: Context,
  account: Account,
): Promise<('password' | 'totp' | 'passkey' | 'recovery')[]> {
  if (!hasSecondFactor(account)) return account.passwordHash === null ? [] : ['password'];
  const byTotp = await mayConfirmByTotp(ctx, account);
  return factorsOf(account).filter((way) => way !== 'totp' || byTotp);
}

/**
 * Whether an authenticator code can confirm the caller's session. A thief of an old session could
 * enrol an authenticator. So the session needs a proof that was recent at the enrolment, or later.
 */
export async function mayConfirmByTotp(
  ctx: Context,
  { totpEnabledAt }: Pick<Account, 'totpEnabledAt'>,
): Promise<boolean> {
  const session = await findOwnSession(ctx);
  if (session === null || totpEnabledAt === null) return false;
  const { createdAt, confirmedAt, secondFactorAt } = session;
  return [createdAt, confirmedAt, secondFactorAt].some(
    (at) => at !== null && totpEnabledAt < after(at, recentSeconds),
  );
}

async function findOwnSession({ actor }: Context): Promise<Session | null> {
  const id = ownSessionOf(actor);
  return id === null ? null : Session.findByPk(id);
}

/**
 * Refuses with `session_required` if the session came through an organization's connection, unless
 * it passed the account's own second factor. An admin can sign in through a connection to a
 * provider of their own, but must not take or delete the account for good (security I4, I8, P18).
 */
export async function requireOwnSession(ctx: Context): Promise<void> {
  const session = await findOwnSession(ctx);
  const marks = session === null ? marksOf(ctx) : marksOfSession(session);
  const { vouchedBy, unapproved } = await marks;
  const throughConnection =
    session !== null && session.connectionId !== null && session.secondFactorAt === null;
  if (vouchedBy === null && !unapproved && !throughConnection) return;
  throw new Refusal('session_required', 'You signed in through an organization.', {
    hint: 'Sign out, then sign in another way: with your password, a passkey or a code by mail.',
  });
}
