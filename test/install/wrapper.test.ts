import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Prints how it was started. */
const program =
  'console.log(JSON.stringify({ pid: process.pid, arguments: process.argv.slice(2), umask: process.umask(), flags: process.execArgv, arenas: process.env.MALLOC_ARENA_MAX }))';
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
  writeFileSync(join(release, 'dist/main.js'), program);
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

test('a hint names idctl by its path unless the shell finds it, and with sudo if the person used it', () => {
  const script = `import { asTyped } from ${JSON.stringify(join(checkout, 'src/host/typed-program.ts'))};
    console.log(asTyped('idctl serve'));`;
  writeFileSync(join(release, 'dist/main.js'), script);
  writeFileSync(join(release, 'package.json'), '{ "type": "module" }');
  const hint = (path: string, PATH: string, more: Record<string, string> = {}) =>
    execFileSync(path, { cwd: folder, encoding: 'utf8', env: { PATH, ...more } }).trim();
  const usual = '/usr/bin:/bin';
  const found = `${join(folder, 'bin')}:${usual}`;
  try {
    // The folder has a space in its name.
    expect(hint(bin, usual)).toBe(`'${bin}' serve`);
    expect(hint('bin/idctl', usual)).toBe('bin/idctl serve');
    expect(hint('idctl', found)).toBe('idctl serve');
    expect(hint(bin, found)).toBe('idctl serve');
    const used = { SUDO_USER: 'ada' };
    expect(hint('idctl', found, used)).toBe('sudo idctl serve');
    expect(hint('bin/idctl', usual, used)).toBe('sudo bin/idctl serve');
    expect(hint('idctl', found, { SUDO_USER: 'root' })).toBe('idctl serve');
    // sudo does not pass on IDCTL_CONFIG.
    expect(hint('idctl', found, { ...used, IDCTL_CONFIG: '/x' })).toBe('idctl serve');
  } finally {
    writeFileSync(join(release, 'dist/main.js'), program);
  }
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
  expect(command).toMatchObject({
    flags: ['--min-semi-space-size=32', '--max-semi-space-size=32'],
  });
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
