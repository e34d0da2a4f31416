import type { Context } from '../../context.ts';
import { orderedId } from '../../crypto/id.ts';
import type { Account } from '../../database/models/account.ts';
import type { Session, SignInMethod } from '../../database/models/session.ts';
import { Tombstone } from '../../database/models/tombstone.ts';
import { insertRow } from '../../database/select.ts';
import { transaction } from '../../database/transaction.ts';
import type { Refusal } from '../../errors.ts';
import { countSignIn, recordEvent } from '../foundation/events/record.ts';
import { after, sessionSeconds } from '../foundation/time.ts';
import { isEmailVerified, lockAccount } from '../people/accounts/account.ts';
import { endSessions } from '../people/sessions/end.ts';
import { emailUnverified, signInFailed } from '../people/sessions/schema.ts';
import {
  keepRefreshToken,
  nextRefreshToken,
  readOldToken,
  signSession,
} from '../people/sessions/tokens.ts';
import { voucherOfFactor } from '../people/tokens/token.ts';
import { secondFactorRequired } from '../people/two-factor/asking.ts';
import {
  acceptSecondFactor,
  isAnswerMissing,
  type SecondFactor,
} from '../people/two-factor/second-factor.ts';
import { findMethodRefusal } from '../tenancy/signin-settings/methods.ts';

// Only this code issues a session. It checks in this order: account enabled, e-mail verified, no
// tombstone, method allowed, second factor. No sign-in path goes around it.

/** How the person has proved who they are. */
export interface SignIn {
  method: SignInMethod;
  /** The organization's connection that the person signed in through, if any. */
  connection?: { id: string; organizationId: string };
  /** The canonical address that a social provider guarantees; null if it guarantees none. */
  provenEmail?: string | null;
  /** The result of `answerSecondFactor`; absent if the method asks for no second factor. */
  secondFactor?: SecondFactor | null;
}

/** A session that has begun, or the account whose second factor must be asked for first. */
export type Begun = { session: Awaited<ReturnType<typeof signSession>> } | { asks: Account };

/**
 * Begins a session for the person who has proved to own the account. Call it inside the sign-in's
 * transaction. Roll that back if the second factor must be asked for.
 */
export async function beginSession(ctx: Context, account: Account, via: SignIn): Promise<Begun> {
  // Lock alone if the account may change next: a second factor stores its step, and a connection's
  // person may join.
  const plain = via.connection === undefined && !via.secondFactor;
  const now = await lockAccount(account.id, plain ? 'beside' : 'alone');
  if (now === null) throw signInFailed('account_disabled');
  const changed = via.method === 'password' && now.passwordHash !== account.passwordHash;
  if (changed) throw signInFailed('changed_meanwhile');
  const bar = await findBar(ctx, now, via);
  if (bar !== null) throw bar;
  if (via.secondFactor !== undefined && isAnswerMissing(now, via.secondFactor))
    return { asks: now };
  const passed =
    via.secondFactor !== undefined && (await acceptSecondFactor(now, via.secondFactor));
  await endShownSession(ctx);
  const session = {
    id: orderedId(),
    expiresAt: after(ctx.now, sessionSeconds),
    secondFactorAt: passed ? ctx.now : null,
    vouchedBy: passed ? await findVoucher(now, via) : null,
  };
  const refresh = await nextRefreshToken(ctx, session);
  // The signatures are computed in parallel, while the rows are written.
  countSignIn(ctx, via.method, 'succeeded');
  const signed = signSession(ctx, account, session, refresh);
  const [answer] = await Promise.all([signed, keepSession(ctx, account, via, session, refresh)]);
  return { session: answer };
}

/** Who vouches for the second factor, where nothing else proves the person (security P12). */
async function findVoucher(
  account: Account,
  { method, secondFactor }: SignIn,
): Promise<string | null> {
  const alone = method === 'sso' || method === 'passkey';
  return alone && secondFactor ? voucherOfFactor(account, secondFactor) : null;
}

/** The facts of an account that decide whether a session may begin. */
export type Entrant = Pick<Account, 'id' | 'email' | 'disabledAt' | 'emailProof' | 'awaitsCode'>;

/** The refusal if no session may begin for the account by this way; writes nothing. */
export async function findBar(
  ctx: Context,
  account: Entrant,
  via: Pick<SignIn, 'method' | 'connection' | 'provenEmail'>,
): Promise<Refusal | null> {
  if (account.disabledAt !== null) return signInFailed('account_disabled');
  if (!isEmailVerified(ctx, account)) return emailUnverified();
  const organizationId = via.connection?.organizationId;
  if (organizationId !== undefined && (await hasTombstone(account, organizationId)))
    return signInFailed('deactivated');
  return findMethodRefusal(ctx, account, via);
}

/** Bypasses the ORM, as no rows are written more often. */
async function keepSession(
  ctx: Context,
  { id, name }: Account,
  { method, connection }: SignIn,
  session: Pick<Session, 'id' | 'expiresAt' | 'secondFactorAt' | 'vouchedBy'>,
  refresh: Awaited<ReturnType<typeof nextRefreshToken>>,
): Promise<void> {
  await insertRow('sessions', {
    id: session.id,
    account_id: id,
    method,
    connection_id: connection?.id ?? null,
    organization_id: connection?.organizationId ?? null,
    address: ctx.client.address,
    user_agent: ctx.client.userAgent,
    created_at: ctx.now,
    last_seen_at: ctx.now,
    expires_at: session.expiresAt,
    second_factor_at: session.secondFactorAt,
    vouched_by: session.vouchedBy,
  });
  await keepRefreshToken(session, refresh);
  await recordEvent(ctx, {
    kind: 'session.started',
    organizationId: connection?.organizationId ?? null,
    subject: { type: 'user', id, name },
    data: { method, session: session.id },
  });
}

/**
 * Ends the session that the browser shows, also by an access token that has expired. Returns whether
 * it ended one. Call it where its cookies are about to go.
 */
export async function endShownSession(ctx: Context): Promise<boolean> {
  const { access, refresh } = ctx.client.tokens ?? {};
  const shown = [
    access === undefined ? null : await readOldToken(ctx, access, 'at+jwt'),
    refresh === undefined ? null : await readOldToken(ctx, refresh, 'rt+jwt'),
  ];
  return transaction(async () => {
    let ended = false;
    for (const claims of shown) {
      if (claims === null || (await endSessions(ctx, { id: claims.sid })) === 0) continue;
      ended = true;
      await recordEvent(ctx, {
        kind: 'session.ended',
        subject: { type: 'session', id: claims.sid },
        data: { account: claims.sub },
      });
    }
    return ended;
  });
}

async function hasTombstone({ id }: Entrant, organizationId: string): Promise<boolean> {
  return (await Tombstone.findOne({ where: { organizationId, accountId: id } })) !== null;
}

/** Returns the session that has begun; else refuses `second_factor_required`. */
export function requireSession(begun: Begun) {
  if ('session' in begun) return begun.session;
  throw secondFactorRequired(begun.asks);
}
