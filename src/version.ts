import { readFileSync } from 'node:fs';

/** Of what commit a release was built; both null in a checkout, and where the build could not tell. */
export interface Build {
  commit: string | null;
  date: string | null;
}

/** What the build wrote down of itself. */
export function readBuild(): Build & { isCheckout: boolean } {
  try {
    const built: unknown = JSON.parse(
      readFileSync(new URL('./build.json', import.meta.url), 'utf8'),
    );
    const { commit, date } = Object(built) as Record<string, unknown>;
    const textOf = (value: unknown) => (typeof value === 'string' ? value : null);
    return { commit: textOf(commit), date: textOf(date), isCheckout: false };
  } catch {
    return { commit: null, date: null, isCheckout: true };
  }
}

/** The version as a person is told it: with commit and date, or that it runs from a checkout. */
export function versionText(): string {
  const { commit, date, isCheckout } = readBuild();
  const from = isCheckout ? 'checkout' : [commit?.slice(0, 12), date].filter(Boolean).join(', ');
  return from === '' ? readVersion() : `${readVersion()} (${from})`;
}

/** The version of this idctl, as package.json beside the code says it. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  if (typeof manifest !== 'object' || manifest === null || !('version' in manifest))
    return 'unknown';
  return String(manifest.version);
}
