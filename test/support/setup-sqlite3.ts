import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import packageFile from '../../package.json' with { type: 'json' };

// The package is no dependency of the checkout: it is kept in .tmp, and linked to where idctl looks while the run lasts.
const checkout = resolve(import.meta.dirname, '../..');
const kept = join(checkout, '.tmp/sqlite3');
const link = join(checkout, 'node_modules/sqlite3');
let linked = false;
const { peerDependencies } = packageFile;

/** Installs the package sqlite3, where it is not; says what it needs where that fails. */
export function setup(): void {
  if (existsSync(link)) return;
  const addon = join(kept, 'node_modules/sqlite3/build/Release/node_sqlite3.node');
  if (!existsSync(addon)) install();
  if (!existsSync(addon)) {
    throw new Error(
      'The package sqlite3 cannot be installed (see above): it needs the npm registry and, without a prebuilt one, a C++ compiler, ' +
        'make and Python (apt-get install build-essential python3). To leave it out: npm run test:long -- --project=!sqlite3',
    );
  }
  rmSync(link, { force: true });
  symlinkSync(join(kept, 'node_modules/sqlite3'), link);
  linked = true;
}

/** Takes the link away. */
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
