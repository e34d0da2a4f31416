/**
 * Whether an event of this kind matches one of the patterns: a kind, `group.*`, or `*`. Null
 * matches every event.
 */
export function isWanted(kind: string, patterns: string[] | null): boolean {
  return patterns === null || patterns.some((pattern) => fits(kind, pattern));
}

function fits(kind: string, pattern: string): boolean {
  return (
    pattern === '*' ||
    (pattern.endsWith('.*') ? kind.startsWith(pattern.slice(0, -1)) : kind === pattern)
  );
}
