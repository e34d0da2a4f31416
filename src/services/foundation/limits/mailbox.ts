/** The mailbox behind a canonical address: a `+tag` is the same one (security P10). For limits alone, never to find an account by. */
export function mailboxOf(email: string): string {
  return email.replace(/(?<=[^@])\+[^@]*(?=@)/, '');
}
