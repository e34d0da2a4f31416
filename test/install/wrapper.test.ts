import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const checkout = join(import.meta.dirname, '../..');
let folder: string;
let release: string;
let bin: string;

/** Makes a release, in a folder with a space in its name, whose program prints how it started. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'idctl wrapper '));
  release = join(folder, 'lib/idctl/releases/1');
  for (const path of ['bin', 'dist', 'node_modules/.bin'])
    mkdirSync(join(release, path), { recursive: true });
  copyFileSync(join(checkout, 'bin/idctl'), join(release, 'bin/idctl'));
  writeFileSync(
    join(release, 'dist/main.js'),
    'console.log(JSON.stringify({ pid: process.pid, arguments: process.argv.slice(2), umask: process.umask(), flags: process.execArgv, arenas: process.env.MALLOC_ARENA_MAX }))',
  );
  symlinkSync(process.execPath, join(release, 'node_modules/.bin/node'));
  symlinkSync('releases/1', join(folder, 'lib/idctl/current'));
  mkdirSync(join(folder, 'bin'));
  bin = join(folder, 'bin/idctl');
  symlinkSync(join(folder, 'lib/idctl/current/bin/idctl'), bin);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const told = (stdout: string) => JSON.parse(stdout);

test('idctl is found through its links from any folder, and passes its arguments on unchanged', () => {
  const stdout = execFileSync(bin, ['org', 'create', 'Acme Ltd', '', '*'], {
    cwd: '/',
    encoding: 'utf8',
  });
  expect(told(stdout).arguments).toEqual(['org', 'create', 'Acme Ltd', '', '*']);
});

test('X8 idctl runs with umask 077, whatever the caller’s umask is', () => {
  const stdout = execFileSync('/bin/sh', ['-c', 'umask 000 && exec "$0"', bin], {
    encoding: 'utf8',
  });
  expect(told(stdout).umask).toBe(0o077);
});

test('a signal to idctl reaches the program itself, because no shell stays between them', () => {
  const { pid, stdout } = spawnSync(bin, { encoding: 'utf8' });
  expect(told(stdout).pid).toBe(pid);
});

test('a daemon starts with the settings that save memory, and a command with the flag that speeds up loading', () => {
  const run = (...words: string[]) => told(execFileSync(bin, words, { encoding: 'utf8' }));
  const daemon = run('--config', '/etc/x.yaml', 'serve');
  expect(daemon).toMatchObject({ flags: ['--max-semi-space-size=4'], arenas: '1' });
  const command = run('org', 'list');
  expect(command).toMatchObject({ flags: ['--min-semi-space-size=16'] });
  expect(command).not.toHaveProperty('arenas');
});

test('without its own Node, idctl uses a suitable one from PATH, or says what to do and exits with code 3', () => {
  rmSync(join(release, 'node_modules/.bin/node'));
  const good = join(folder, 'good');
  const old = join(folder, 'old');
  for (const path of [good, old]) mkdirSync(path);
  symlinkSync(process.execPath, join(good, 'node'));
  writeFileSync(join(old, 'node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const run = (path: string) =>
    spawnSync(bin, ['x'], { encoding: 'utf8', env: { PATH: `${path}:/usr/bin:/bin` } });
  expect(told(run(good).stdout).arguments).toEqual(['x']);
  expect(run(old)).toMatchObject({
    status: 3,
    stdout: '',
    stderr: expect.stringContaining('install.sh'),
  });
});

test('idctl also runs in a checkout', () => {
  const stdout = execFileSync(join(checkout, 'bin/idctl'), ['--version'], { encoding: 'utf8' });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+ \(.+\)\n$/);
});
