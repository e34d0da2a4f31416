import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const checkout = resolve(import.meta.dirname, '../..');
let release: string | undefined;

/**
 * Builds the run's release, once for all projects, so that tests start the program that people
 * install.
 */
export function setup(): void {
  if (process.env['IDCTL_TEST_MAIN'] !== undefined) return;
  mkdirSync(join(checkout, '.tmp'), { recursive: true });
  release = mkdtempSync(join(checkout, '.tmp/release-'));
  // Some tests start the release as another user.
  chmodSync(release, 0o755);
  execFileSync(process.execPath, [join(checkout, 'scripts/build.ts'), release], {
    stdio: 'inherit',
  });
  process.env['IDCTL_TEST_MAIN'] = join(release, 'dist/main.js');
}

/** Removes the release. */
export function teardown(): void {
  if (release) rmSync(release, { recursive: true, force: true });
}
