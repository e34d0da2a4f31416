import { createHmac } from 'node:crypto';
import type { Context } from '../../context.ts';
import { isEqual } from '../../crypto/equal.ts';
import type { Account } from '../../database/models/account.ts';

// Whoever reads the mailbox confirms the address, and anybody may have chosen the password meanwhile (security P11). So
// a client that has chosen it is given a ticket that shows this when it confirms.

/** How long an account waits for somebody to confirm its address, in seconds; its ticket is worth nothing longer. */
export const unconfirmedSeconds = 7 * 24 * 3600;

/** The ticket of a password as it is stored: no two sign-ups have one in common, though their passwords be the same. */
export function signUpTicket({ keyring }: Pick<Context, 'keyring'>, passwordHash: string): string {
  return createHmac('sha256', keyring.derive('sign-up tickets')).update(passwordHash).digest('base64url');
}

/**
 * Whether the password of an account that waits is the choice of the client that confirms it. A client that keeps no
 * cookies has no ticket: it is believed where there was one sign-up `only`.
 */
export function isOwnSignUp(
  ctx: Pick<Context, 'keyring'>,
  { passwordHash }: Pick<Account, 'passwordHash'>,
  { ticket, only }: { ticket: string | undefined; only: boolean },
): boolean {
  if (passwordHash === null) return false;
  if (ticket === undefined) return only;
  return isEqual(ticket, signUpTicket(ctx, passwordHash));
}
