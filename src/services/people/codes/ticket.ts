import { createHmac } from 'node:crypto';
import type { Context } from '../../../context.ts';
import { isEqual } from '../../../crypto/secret.ts';
import type { Account } from '../../../database/models/account.ts';

// The code proves who reads the mailbox, not who chose the password (security P11). So the client
// that signs up gets a ticket, and shows it to confirm.

/**
 * How long an account waits for its address to be confirmed, in seconds; its ticket is then
 * invalid.
 */
export const unconfirmedSeconds = 7 * 24 * 3600;

/** The ticket of a stored password. No two sign-ups share a ticket, even with the same password. */
export function signUpTicket({ keyring }: Pick<Context, 'keyring'>, passwordHash: string): string {
  return createHmac('sha256', keyring.derive('sign-up tickets'))
    .update(passwordHash)
    .digest('base64url');
}

/**
 * Whether the client that confirms an address chose the account's password: it shows the ticket of
 * that sign-up, or the password. Call it only after a right code, and end the code with the answer:
 * it is one guess then.
 */
export async function isOwnSignUp(
  ctx: Pick<Context, 'keyring' | 'passwords'>,
  { passwordHash }: Pick<Account, 'passwordHash'>,
  { ticket, password }: { ticket?: string | undefined; password?: string | undefined },
): Promise<boolean> {
  if (passwordHash === null) return false;
  if (ticket !== undefined && isEqual(ticket, signUpTicket(ctx, passwordHash))) return true;
  return password !== undefined && ctx.passwords.verify(passwordHash, password);
}
