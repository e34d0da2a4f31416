import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootMissing } from './counterpart.ts';
import { makeRelease } from './release.ts';

let folder: string | undefined;

/**
 * Builds a release with `npm run release`, once for all its tests. IDCTL_TEST_RELEASE may name one
 * that exists already.
 */
export async function setup(): Promise<void> {
  if (rootMissing()) return;
  const named = process.env['IDCTL_TEST_RELEASE'];
  if (named === undefined) folder = mkdtempSync(join(tmpdir(), 'idctl-packages-'));
  const release = named ?? join(`${folder}`, 'release');
  if (!existsSync(release)) await makeRelease([release]);
  process.env['IDCTL_TEST_RELEASE'] = release;
}

/** Removes the temporary release. */
export function teardown(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}
