/** Masks a secret for display: a URL loses only its passwords, any other text is hidden. */
export function masked(secret: string): string {
  if (secret.startsWith('sqlite:')) return secret;
  if (!URL.canParse(secret)) return '***';
  return secret
    .replace(/^(\w+:\/\/[^:@/]*):[^/?#]*@/, '$1:***@')
    .replace(/([?&]password=)[^&#]*/gi, '$1***');
}
