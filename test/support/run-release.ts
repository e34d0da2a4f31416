import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { codeOf } from '../../src/host/file-fault.ts';

const checkout = resolve(import.meta.dirname, '../..');

/**
 * The main file of the release that this run tests, which is the program that people install. The
 * first process that asks builds it, and the others wait. Outside a run, the main file of the
 * checkout.
 */
export function mainOfRun(): string {
  const folder = process.env['IDCTL_TEST_RUN_RELEASE'];
  if (folder === undefined) return join(checkout, 'src/main.ts');
  const [built, failed] = [join(folder, 'built'), join(folder, 'failed')];
  if (isFirst(join(folder, 'building'))) build(folder, { built, failed });
  while (!existsSync(built)) {
    if (existsSync(failed)) throw new Error('The release of this run could not be built.');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
  return join(folder, 'dist/main.js');
}

function isFirst(mark: string): boolean {
  try {
    mkdirSync(mark);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function build(folder: string, marks: { built: string; failed: string }): void {
  try {
    execFileSync(process.execPath, [join(checkout, 'scripts/build.ts'), folder], {
      stdio: 'inherit',
    });
    writeFileSync(marks.built, '');
  } catch (error) {
    writeFileSync(marks.failed, '');
    throw error;
  }
}
