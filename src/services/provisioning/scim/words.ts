/** The question before the token is replaced, and what ends. */
export function replacing(prefix: string | null): { ask: string; effect: string } {
  return {
    ask: `Replace the SCIM token ${prefix}…?`,
    effect: 'The SCIM client cannot connect until it has the new token.',
  };
}

/** The path of a request without the base path, which is the same in every request. */
export function shortPath(path: string): string {
  return path.replace(/^\/scim\/v2\/orgs\/[^/]*/i, '') || '/';
}
