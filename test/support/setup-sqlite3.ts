import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import packageFile from '../../package.json' with { type: 'json' };

// The checkout does not install the package sqlite3. It is kept in .tmp, and linked into
// node_modules during the run.
const checkout = resolve(import.meta.dirname, '../..');
const kept = join(checkout, '.tmp/sqlite3');
const link = join(checkout, 'node_modules/sqlite3');
let linked = false;
const { peerDependencies } = packageFile;

/**
 * Installs the package sqlite3 if it is missing. If that fails, the error names its requirements.
 */
export function setup(): void {
  if (existsSync(link)) return;
  const addon = join(kept, 'node_modules/sqlite3/build/Release/node_sqlite3.node');
  if (!existsSync(addon)) install();
  if (!existsSync(addon)) {
    throw new Error(
      'The package sqlite3 cannot be installed (see above). It needs the npm registry and, without a prebuilt binary, a C++ compiler, ' +
        'make and Python (apt-get install build-essential python3). To skip its tests: npm run test:long -- --project=!sqlite3',
    );
  }
  rmSync(link, { force: true });
  symlinkSync(join(kept, 'node_modules/sqlite3'), link);
  linked = true;
}

/** Removes the link. */
export function teardown(): void {
  if (linked) rmSync(link);
}

function install(): void {
  process.stderr.write('Installing the package sqlite3, which may take two minutes\n');
  mkdirSync(kept, { recursive: true });
  writeFileSync(
    join(kept, 'package.json'),
    '{ "private": true, "allowScripts": { "sqlite3": true } }\n',
  );
  const words = ['install', '--no-audit', '--no-fund', `sqlite3@${peerDependencies.sqlite3}`];
  spawnSync('npm', words, { cwd: kept, stdio: ['ignore', 2, 2] });
}
