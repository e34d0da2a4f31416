import { createHash } from 'node:crypto';
import type { Context } from '../../context.ts';
import { randomToken } from '../../crypto/secret.ts';
import { PendingSignIn } from '../../database/models/pending-sign-in.ts';
import { transaction } from '../../database/transaction.ts';
import { Refusal } from '../../errors.ts';
import { after } from '../foundation/time.ts';
import { lockAccount } from '../people/accounts/account.ts';
import { signInFailed } from '../people/sessions/sign-in.ts';
import { secondFactorRequired } from '../people/two-factor/second-factor.ts';
import type { DirectoryPerson } from './methods/ldap/person.ts';
import type { SocialPerson } from './methods/social/person.ts';
import type { Said } from './methods/sso/claims.ts';
import type { FlowState } from './redirect/state.ts';

const pendingSeconds = 5 * 60;

/**
 * How a person has proved who they are. If the code comes later, the sign-in continues from this;
 * its size is bounded.
 */
export type Arrival =
  | { by: 'sso'; state: FlowState; said: Said }
  | { by: 'social'; state: FlowState; person: SocialPerson }
  | { by: 'loginLink' }
  | { by: 'password'; checked: string; returnTo: string }
  | { by: 'ldap'; connection: SeenConnection; person: DirectoryPerson; returnTo: string };

/** The URL that the person goes to after the sign-in. */
export function returnToOf(arrival: Arrival): string {
  if (arrival.by === 'loginLink') return '/';
  return 'state' in arrival ? arrival.state.returnTo : arrival.returnTo;
}

/**
 * Keeps an arrival until its code comes. Returns the refusal that asks for the code, with the token
 * to answer with.
 */
export async function holdForSecondFactor(
  ctx: Context,
  accountId: string,
  arrival: Arrival,
): Promise<Refusal> {
  const token = randomToken(256);
  const row = {
    id: idOf(token),
    accountId,
    payload: arrival,
    expiresAt: after(ctx.now, pendingSeconds),
  };
  await transaction(async () => {
    // Locked, so that no arrival is kept while another transaction ends the account's sign-ins.
    const account = await lockAccount(accountId, 'beside');
    if (account === null || account.disabledAt !== null) throw signInFailed('account_disabled');
    await PendingSignIn.create(row);
  });
  return secondFactorRequired(token);
}

/** Returns the arrival of an unexpired token. */
export async function requirePending(ctx: Context, token: string | undefined) {
  const row = token === undefined ? null : await PendingSignIn.findByPk(idOf(token));
  if (row === null || row.expiresAt <= ctx.now) throw nothingPending();
  // Only `holdForSecondFactor` writes it.
  return { id: row.id, accountId: row.accountId, arrival: row.payload as Arrival };
}

/** Uses the arrival up; of two parallel answers, one succeeds. */
export async function spendPending(id: string): Promise<void> {
  const spent = await transaction(() => PendingSignIn.destroy({ where: { id } }));
  if (spent === 0) throw nothingPending();
}

function nothingPending(): Refusal {
  return new Refusal('invalid_credential', 'This sign-in has expired.', {
    hint: 'Sign in again.',
  });
}

function idOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/** A connection as it was when it was asked. */
export interface SeenConnection {
  id: string;
  settings: string;
}
