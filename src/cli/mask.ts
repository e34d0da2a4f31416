/** Masks a secret for display: a URL keeps all but its passwords, anything else is hidden. */
export function masked(secret: string): string {
  if (secret.startsWith('sqlite:')) return secret;
  if (!URL.canParse(secret)) return '***';
  return secret
    .replace(/^(\w+:\/\/[^:@/]*):[^/?#]*@/, '$1:***@')
    .replace(/([?&]password=)[^&#]*/gi, '$1***');
}

/** Whether the text is a URL with a password. */
export function holdsPassword(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return url.password !== '' || url.searchParams.has('password');
}
