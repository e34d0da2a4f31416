/** A secret as it may be shown: of a URL all but its passwords, of anything else nothing. */
export function masked(secret: string): string {
  if (secret.startsWith('sqlite:')) return secret;
  if (!URL.canParse(secret)) return '***';
  return secret
    .replace(/^(\w+:\/\/[^:@/]*):[^/?#]*@/, '$1:***@')
    .replace(/([?&]password=)[^&#]*/gi, '$1***');
}
