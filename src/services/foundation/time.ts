/** How long things last, in seconds (interface page, "Sessions and accounts"). */
export const accessTokenSeconds = 15 * 60;
/** How long a refresh token waits to be used. */
export const refreshIdleSeconds = 14 * 24 * 3600;
/** How long a session lasts in all. */
export const sessionSeconds = 30 * 24 * 3600;
/** How long a rotated refresh token still answers with its successor. */
export const reuseGraceSeconds = 30;

/** The instant so many seconds later. */
export function after(instant: Date, seconds: number): Date {
  return new Date(instant.getTime() + seconds * 1000);
}
