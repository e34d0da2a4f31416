import { createHmac } from 'node:crypto';
import type { Context } from '../../../context.ts';
import { isEqual } from '../../../crypto/equal.ts';
import type { Account } from '../../../database/models/account.ts';

// The code proves who reads the mailbox, not who chose the password (security P11). So the client that signs up is given
// a ticket, and shows it when it confirms.

/** How long an account waits for somebody to confirm its address, in seconds; its ticket is worth nothing longer. */
export const unconfirmedSeconds = 7 * 24 * 3600;

/** The ticket of a password as it is stored: no two sign-ups have one in common, though their passwords be the same. */
export function signUpTicket({ keyring }: Pick<Context, 'keyring'>, passwordHash: string): string {
  return createHmac('sha256', keyring.derive('sign-up tickets'))
    .update(passwordHash)
    .digest('base64url');
}

/**
 * Whether the client that confirms an address chose the password of the account: it shows the ticket of that sign-up, or
 * the password. Ask it only after a right code, and end the code with the answer: it is one guess then.
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
