/** How long ago an instant is, in words. */
export function ago(now: Date, at: string): string {
  const seconds = (now.getTime() - new Date(at).getTime()) / 1000;
  const [size, unit] = units.find(([size]) => seconds >= size) ?? [60, 'minute'];
  if (seconds < 60) return 'just now';
  return new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(
    -Math.floor(seconds / size),
    unit,
  );
}

const units: [number, Intl.RelativeTimeFormatUnit][] = [
  [365 * 86_400, 'year'],
  [30 * 86_400, 'month'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
];

/** The day of an instant, such as 20 November 2026. */
export function day(at: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(
    new Date(at),
  );
}

const browsers: [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
];
const systems: [RegExp, string][] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
];

/** The program and system in a `User-Agent`; for an unknown program, its first word. */
export function programOf(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown program';
  const named = (list: [RegExp, string][]) =>
    list.find(([pattern]) => pattern.test(userAgent))?.[1];
  const browser = named(browsers) ?? userAgent.split(/[\s/]/)[0]?.slice(0, 40) ?? '';
  const system = named(systems);
  return system === undefined ? browser : `${browser} on ${system}`;
}

/** The names of sign-in methods, as the list of sessions shows them. */
export const methodNames: Record<string, string> = {
  password: 'password',
  sso: 'single sign-on',
  ldap: 'directory',
  magicCode: 'code by mail',
  google: 'Google',
  github: 'GitHub',
  loginLink: 'one-time link',
  verification: 'confirmed address',
};
