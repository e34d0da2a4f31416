/**
 * The mailbox of a canonical address, without a `+tag` (security P10). Only for limits, never to
 * find an account by.
 */
export function mailboxOf(email: string): string {
  return email.replace(/(?<=[^@])\+[^@]*(?=@)/, '');
}
