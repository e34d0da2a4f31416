import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const checkout = resolve(import.meta.dirname, '../..');
let folder: string | undefined;

/** Creates the folder for the run's release. The first file that starts the program builds it. */
export function setup(): void {
  if (process.env['IDCTL_TEST_RUN_RELEASE'] !== undefined) return;
  mkdirSync(join(checkout, '.tmp'), { recursive: true });
  folder = mkdtempSync(join(checkout, '.tmp/release-'));
  // Some tests start the release as another user.
  chmodSync(folder, 0o755);
  process.env['IDCTL_TEST_RUN_RELEASE'] = folder;
}

/** Removes the release. */
export function teardown(): void {
  if (folder) rmSync(folder, { recursive: true, force: true });
}
