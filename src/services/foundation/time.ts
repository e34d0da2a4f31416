// The lifetimes of tokens and sessions.

/** How long a session token is valid, in seconds (interface page, "Sessions and accounts"). */
export const accessTokenSeconds = 15 * 60;
/** How long an unused refresh token is valid. */
export const refreshIdleSeconds = 14 * 24 * 3600;
/** The absolute length of a session. */
export const sessionSeconds = 30 * 24 * 3600;
/** How long a rotated refresh token still returns its successor. */
export const reuseGraceSeconds = 30;

/** The instant this many seconds later. */
export function after(instant: Date, seconds: number): Date {
  return new Date(instant.getTime() + seconds * 1000);
}

/** An instant in whole seconds since 1970, as tokens state it. */
export function wholeSeconds(instant: Date): number {
  return Math.floor(instant.getTime() / 1000);
}
