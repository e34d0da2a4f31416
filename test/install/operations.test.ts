import { execFile } from 'node:child_process';
import {
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { surroundings, typedProgram } from '../support/daemon.ts';
import { blocksOf } from '../support/operations.ts';
import { postgresMissing, startPostgres } from '../support/postgres.ts';

// Runs every block of the pages for operators in order on one instance, in temporary folders. Here,
// systemctl, sudo, git and install.sh only record their arguments, and install(1) only makes a folder.

const run = promisify(execFile);
const checkout = resolve(import.meta.dirname, '../..');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idctl-operations-'));
  const release = join(folder, 'prefix/releases/new');
  for (const path of ['bin', 'etc', 'lib', 'backups', 'systemd']) await mkdir(join(folder, path));
  await mkdir(join(folder, 'prefix/releases/old'), { recursive: true });
  await cp(join(checkout, 'config'), join(release, 'config'), { recursive: true });
  await symlink('releases/new', join(folder, 'prefix/current'));
  await symlink('releases/old', join(folder, 'prefix/previous'));
  await program('idctl', `exec ${typedProgram} "$@"`);
  await program('systemctl', `echo "$@" >>'${folder}/systemctl'`);
  // The real install.sh would install idctl and compile sqlite3. install.test.ts and
  // packed.long.test.ts test it.
  await writeFile(join(folder, 'install.sh'), `#!/bin/sh\necho "$@" >>'${folder}/installed'\n`, {
    mode: 0o755,
  });
  await program('git', `echo "$@" >>'${folder}/installed'`);
  await program('sudo', `echo "$@" >>'${folder}/sudo'`);
  await program('install', `for last; do :; done; mkdir -p "$last"`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function program(name: string, text: string): Promise<void> {
  await writeFile(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
}

async function play(block: string) {
  const places: Record<string, string> = {
    '/etc/idctl': join(folder, 'etc'),
    '/etc/systemd/system': join(folder, 'systemd'),
    '/var/lib/idctl': join(folder, 'lib'),
    '/var/backups/idctl': join(folder, 'backups'),
    '/usr/local/lib/idctl': join(folder, 'prefix'),
  };
  const here = Object.entries(places).reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    block,
  );
  const { PATH, ...env } = surroundings();
  return run('sh', ['-euc', here], {
    cwd: folder,
    env: {
      ...env,
      PATH: `${join(folder, 'bin')}:${PATH}`,
      IDCTL_CONFIG: join(folder, 'etc/idctl.yaml'),
      IDCTL_DATABASE: `sqlite:${join(folder, 'lib/idctl.db')}`,
      // No server listens there, so a look-up is refused at once.
      IDCTL_DOH_RESOLVER_URL: 'https://127.0.0.1:9/dns-query',
    },
  });
}

/** Moves to a real server, then undoes the move: the rest of the page is about the SQLite file. */
async function playMove(block: string): Promise<void> {
  const file = join(folder, 'lib/idctl.db');
  await copyFile(file, `${file}.kept`);
  const server = await startPostgres();
  const there = 'postgres://idctl:password@db.example.com/idctl';
  try {
    expect(block).toContain(there);
    const { stderr } = await play(block.replaceAll(there, server.url));
    expect(stderr).toContain('Next: set database.url to the new database, then start the daemon.');
  } finally {
    await server.stop();
    await rename(`${file}.kept`, file);
  }
}

test('every command in docs/operations/ runs, in the order of the pages', {
  timeout: 240_000,
}, async () => {
  const shown: string[] = [];
  for (const block of blocksOf('sh')) {
    // The page uses a copy such as a migration makes.
    const copy = join(folder, 'lib/idctl.db.before-0018-suspensions-20261120T120000Z');
    if (block.includes('.before-')) await copyFile(join(folder, 'lib/idctl.db'), copy);
    if (block.includes('database move')) {
      if ((await postgresMissing()) === null) await playMove(block);
      continue;
    }
    const { stdout, stderr } = await play(block);
    shown.push(stdout, stderr);
  }
  for (const settings of blocksOf('yaml')) {
    await writeFile(join(folder, 'etc/idctl.yaml'), settings);
    shown.push((await play('idctl config check')).stderr);
  }
  const all = shown.join('\n');
  expect(all).toContain('The backup is complete, and the configured master key opens it.');
  expect(all).toMatch(/https:\/\/id\.example\.com\/login\/link\?token=/);
  expect(all).toContain('https://login.example.com/scim/v2/orgs/');
  expect(await readFile(join(folder, 'installed'), 'utf8')).toBe('--with-sqlite3\npull\n\n');
  expect(await readFile(join(folder, 'systemctl'), 'utf8')).toContain(
    'enable --now idctl-backup.timer',
  );
});
