import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The commit and date of a release's build. Null in a checkout, or if the build had none. */
export interface Build {
  commit: string | null;
  date: string | null;
}

/** The commit and date that the build recorded, and whether idctl runs from a checkout. */
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

/** The version as people see it, with the commit and date, or the word `checkout`. */
export function versionText(): string {
  const { commit, date, isCheckout } = readBuild();
  const from = isCheckout ? 'checkout' : [commit?.slice(0, 12), date].filter(Boolean).join(', ');
  return from === '' ? readVersion() : `${readVersion()} (${from})`;
}

/** The version of this idctl, from package.json beside `src/` and `dist/`. This file is at the top of both. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  if (typeof manifest !== 'object' || manifest === null || !('version' in manifest))
    return 'unknown';
  return String(manifest.version);
}

/** Where a page of the documentation is on this machine: beside the program, or in the package's folder. */
export function docsFile(name: string): string {
  const beside = fileURLToPath(new URL(`../docs/${name}`, import.meta.url));
  const places = [beside, `/usr/share/doc/idctl/docs/${name}`];
  return places.find((place) => existsSync(place)) ?? `docs/${name} of the repository`;
}
