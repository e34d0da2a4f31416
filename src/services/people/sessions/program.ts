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
