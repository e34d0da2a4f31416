const units = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
]);

/** The seconds in a duration such as `90s`, `30m`, `24h` or `7d`; NaN for any other text. */
export function secondsOf(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return Number(count || 'none') * (units.get(unit) ?? Number.NaN);
}
