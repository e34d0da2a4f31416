import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocksOf } from '../../support/operations.ts';
import { freePorts } from '../../support/ports.ts';

// Runs install.sh from a copy of the files that git tracks. It needs the npm registry, so it runs
// only in CI.

const checkout = resolve(import.meta.dirname, '../../..');
const isRoot = process.getuid?.() === 0;
/** The user id of Debian's `nobody`. */
const stranger = 65_534;
let folder: string;
let tree: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idctl-packed-'));
  chmodSync(folder, 0o755);
  tree = join(folder, 'tree');
  for (const path of ['tree', 'path', 'cache']) await mkdir(join(folder, path));
  execFileSync('sh', ['-c', 'git ls-files -z | xargs -0 tar c | tar x -C "$1"', 'sh', tree], {
    cwd: checkout,
  });
  const settings = process.env['npm_config_userconfig'] ?? join(homedir(), '.npmrc');
  await writeFile(join(folder, 'npmrc'), await readFile(settings, 'utf8').catch(() => ''), {
    mode: 0o644,
  });
  // The real programs would change the machine or the checkout.
  for (const name of ['useradd', 'systemctl'])
    program(name, `echo ${name} "$@" >>'${folder}/called'`);
  program('git', `test "$1" = pull && echo '# pulled' >>'${tree}/README.md'`);
  chmodSync(join(tree, 'README.md'), 0o666);
  writeFileSync(join(folder, 'called'), '', { mode: 0o666 });
  chmodSync(join(folder, 'called'), 0o666);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function program(name: string, body: string): void {
  writeFileSync(join(folder, 'path', name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
}

/** Makes a home folder for a user. Returns functions that run commands there as this user. */
async function actor(name: string, uid: number) {
  const home = join(folder, name);
  await mkdir(home);
  if (isRoot) execFileSync('chown', ['-R', `${uid}:${uid}`, home, join(folder, 'cache')]);
  const [port] = await freePorts(1);
  const env = {
    // Keeps the settings with which this machine reaches the registry.
    ...Object.fromEntries(
      Object.entries(process.env).filter(
        ([key]) => !/^(IDCTL_|XDG_|npm_(?!config_)|VITEST)/.test(key),
      ),
    ),
    npm_config_userconfig: join(folder, 'npmrc'),
    HOME: home,
    PATH: `${join(folder, 'path')}:${process.env['PATH']}`,
    npm_config_cache: join(folder, 'cache'),
    npm_config_prefer_offline: 'true',
    IDCTL_CONFIG: join(home, 'etc/idctl.yaml'),
    IDCTL_LISTEN: `127.0.0.1:${port}`,
  };
  const prefix = join(home, '.local');
  const lib = join(prefix, 'lib/idctl');
  const start = (command: string) => {
    const as = isRoot ? { uid, gid: uid } : {};
    const child = spawn('sh', ['-euc', command], {
      cwd: tree,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      ...as,
    });
    return { child, out: text(child.stdout), err: text(child.stderr) };
  };
  return {
    prefix,
    bin: join(prefix, 'bin/idctl'),
    release: () => realpathSync(join(lib, 'current')),
    previous: () =>
      existsSync(join(lib, 'previous')) ? realpathSync(join(lib, 'previous')) : null,
    link: () => readlinkSync(join(prefix, 'bin/idctl')),
    url: `http://127.0.0.1:${port}`,
    start,
    run: async (command: string) => {
      const { child, out, err } = start(command);
      const [code] = await once(child, 'close');
      return { code, out: await out, err: await err };
    },
  };
}

async function answers(url: string): Promise<number> {
  return fetch(url).then(
    ({ status }) => status,
    () => 0,
  );
}

const people: [string, number][] = isRoot
  ? [
      ['root', 0],
      ['ada', stranger],
    ]
  : [['ada', process.getuid?.() ?? 0]];

describe.skipIf(process.env['CI'] !== 'true')(
  'install.sh from a packed tree',
  { timeout: 300_000 },
  () => {
    test.each(people)(
      '%s can install with --serve, install again and uninstall; the first user can also upgrade',
      async (name, uid) => {
        const { run, start, bin, url, prefix, release, previous, link } = await actor(name, uid);
        // The default prefix of root, /usr/local, belongs to the machine.
        const install = `./install.sh --prefix '${prefix}'`;

        const serving = start(`${install} --serve`);
        while ((await answers(`${url}/readyz`)) !== 200) {
          if (serving.child.exitCode !== null) throw new Error(await serving.err);
          await pause(500);
        }
        // Like Ctrl-C, the signal goes to the whole process group.
        process.kill(-(serving.child.pid ?? Number.NaN), 'SIGINT');
        await once(serving.child, 'close');
        expect(await answers(`${url}/readyz`)).toBe(0);
        expect(await serving.out).toMatch(/Installed: [\s\S]*Password: +\S{20}/);
        expect(await serving.err).not.toContain('Next: ');
        const first = release();

        expect(await run(install)).toMatchObject({
          code: 0,
          out: expect.stringContaining('already installed'),
        });
        expect([release(), previous()]).toEqual([first, null]);

        // The upgrade does the same for each user and takes half of the time, so it runs once.
        if (name === people[0]?.[0]) {
          const [upgrade = ''] = blocksOf('sh').filter((block) => block.includes('git pull'));
          const upgraded = await run(upgrade.replace('./install.sh', install));
          expect(upgraded).toMatchObject({
            code: 0,
            err: '',
            out: expect.stringContaining('Building idctl'),
          });
          expect(release()).not.toBe(first);
          expect(previous()).toBe(first);
          expect(link()).toBe(join(prefix, 'lib/idctl/current/bin/idctl'));
        }
        const listed = await run(`'${bin}' org list --json`);
        expect(JSON.parse(listed.out)).toMatchObject([{ slug: 'default' }]);

        expect(await run(`${install} --uninstall`)).toMatchObject({ code: 0 });
        expect([existsSync(bin), existsSync(join(prefix, 'lib/idctl'))]).toEqual([false, false]);
      },
    );
  },
);
