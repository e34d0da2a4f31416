import type { Context } from '../../context.ts';
import { orderedId } from '../../crypto/id.ts';
import type { Account } from '../../database/models/account.ts';
import { Session, type SignInMethod } from '../../database/models/session.ts';
import { Tombstone } from '../../database/models/tombstone.ts';
import { lockAccount } from '../accounts/lock.ts';
import { recordEvent } from '../events/record.ts';
import { spendStep } from '../two-factor/answer.ts';
import { secondFactorRequired } from '../two-factor/refusals.ts';
import { signInFailed } from './failed.ts';
import { after, sessionSeconds } from './lifetimes.ts';
import { issueRefreshToken, signSession } from './tokens.ts';

// The only code that issues a session. It asks, in this order: account enabled, e-mail verified, not
// tombstoned, method allowed, second factor. No sign-in path goes round it.

/** How the person has proved who they are. */
export interface SignIn {
  method: SignInMethod;
  /** The organization's connection the sign-in came through, if it did. */
  connection?: { id: string; organizationId: string };
  /** The step that `answerSecondFactor` gave; absent where the method does not ask for a second factor. */
  secondFactor?: number | null;
}

/** Begins a session for someone who has proved to be the account; call it inside the sign-in's transaction. */
export async function beginSession(ctx: Context, account: Account, via: SignIn) {
  // A second factor's step is written to the account, and a connection's person may go on to join.
  const plain = via.connection === undefined && typeof via.secondFactor !== 'number';
  const now = await lockAccount(account.id, plain ? 'beside' : 'alone');
  if (now === null || now.disabledAt !== null) throw signInFailed('account_disabled');
  const changed = via.method === 'password' && now.passwordHash !== account.passwordHash;
  if (changed) throw signInFailed('changed_meanwhile');
  if (via.connection !== undefined) await requireNoTombstone(now, via.connection.organizationId);
  if (via.secondFactor !== undefined) await requireSecondFactor(now, via.secondFactor);
  const session = await Session.create({
    id: orderedId(),
    accountId: account.id,
    method: via.method,
    connectionId: via.connection?.id ?? null,
    organizationId: via.connection?.organizationId ?? null,
    address: ctx.client.address,
    userAgent: ctx.client.userAgent,
    createdAt: ctx.now,
    lastSeenAt: ctx.now,
    expiresAt: after(ctx.now, sessionSeconds),
  });
  await recordEvent(ctx, {
    kind: 'session.started',
    organizationId: via.connection?.organizationId ?? null,
    subject: { type: 'user', id: account.id, name: account.name },
    data: { method: via.method, session: session.id },
  });
  return signSession(ctx, account, session, await issueRefreshToken(ctx, session));
}

async function requireNoTombstone(account: Account, organizationId: string): Promise<void> {
  const tombstone = await Tombstone.findOne({ where: { organizationId, accountId: account.id } });
  if (tombstone !== null) throw signInFailed('deactivated');
}

/** The account as it is now decides: a second factor enabled since it was asked for is asked for again. */
async function requireSecondFactor(account: Account, step: number | null): Promise<void> {
  if (account.totpEnabledAt === null) return;
  if (step === null) throw secondFactorRequired(account.id);
  await spendStep(account.id, step);
}
