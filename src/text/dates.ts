// Dates as people read them, in UTC.

/** The day, such as 20 November 2026. */
export function dayText(at: Date | string): string {
  return inEnglish(at, { dateStyle: 'long' });
}

/** The minute, such as 20 November 2026 at 14:05 UTC. */
export function minuteText(at: Date | string): string {
  return `${inEnglish(at, { dateStyle: 'long', timeStyle: 'short' })} UTC`;
}

/** The time of the day, such as 14:05 UTC. */
export function timeText(at: Date | string): string {
  return `${inEnglish(at, { timeStyle: 'short' })} UTC`;
}

function inEnglish(at: Date | string, style: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('en-GB', { ...style, timeZone: 'UTC' }).format(new Date(at));
}
