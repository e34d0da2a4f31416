import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rootMissing } from '../support/counterpart.ts';
import { main, surroundings, untilReady } from '../support/daemon.ts';
import { dialect, freshDatabaseUrl } from '../support/database.ts';
import { freePorts } from '../support/ports.ts';

/** The user that owns the instance and runs its daemon, as `idctl` does with the package. */
const owner = 65_534;
const another = 12_345;

interface Check {
  name: string;
  ok: boolean;
  message: string;
  hint?: string;
}

describe.skipIf(rootMissing())(
  'X8 root, and an instance of another user',
  { timeout: 120_000 },
  () => {
    let folder: string;
    let site: string;
    let url: string;
    let database: Record<string, string> = {};
    let more: Record<string, string> = {};
    const at = (name: string) => join(site, name);
    const settings = () => ({
      ...surroundings(),
      IDCTL_CONFIG: at('idctl.yaml'),
      IDCTL_DOH_RESOLVER_URL: 'https://127.0.0.1:1/',
      ...database,
      ...more,
    });

    /** Runs a command as root. */
    const idctl = (words: string[], env: Record<string, string> = {}) =>
      new Promise<{ code: number; out: string; err: string }>((resolve) => {
        execFile(
          process.execPath,
          [main, ...words],
          { env: { ...settings(), ...env } },
          (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
        );
      });
    const doctor = async (): Promise<Check[]> =>
      JSON.parse((await idctl(['doctor', '--json'])).out).checks;
    const failures = async () => (await doctor()).filter(({ ok }) => !ok).map(({ name }) => name);

    /** Starts the daemon as this user, and stops it once it is ready. Returns its user id. */
    async function serve(uid: number): Promise<number> {
      const env = settings();
      const place = `127.0.0.1:${new URL(url).port}`;
      const child = spawn(process.execPath, [main, 'serve', '--listen', place], {
        env,
        ...{ uid, gid: uid },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let log = '';
      child.stderr.setEncoding('utf8').on('data', (part) => {
        log += part;
      });
      const ended = once(child, 'exit');
      await untilReady(url, () => (child.exitCode === null ? null : log));
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      child.kill('SIGTERM');
      await ended;
      return Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]);
    }

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'idctl-root-'));
      await chown(folder, owner, owner);
      site = join(folder, 'site');
      const [port] = await freePorts(1);
      url = `http://127.0.0.1:${port}`;
      if (dialect === 'postgres') database = { IDCTL_DATABASE: await freshDatabaseUrl() };
      const { err, code } = await idctl(['init', '--yes', '--base-url', url]);
      expect([code, err]).toEqual([0, expect.anything()]);
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    test('X8 the daemon and the commands of root run as the owner of the instance', async () => {
      expect(await serve(0)).toBe(owner);
      const file = at('made.backup');
      if (dialect === 'sqlite') {
        expect((await idctl(['backup', file])).code).toBe(0);
        expect((await stat(file)).uid).toBe(owner);
      }
      // A folder that only root can enter shows who writes there.
      const roots = await mkdtemp(join(tmpdir(), 'idctl-roots-'));
      const refused = await idctl(['backup', join(roots, 'made.backup')]);
      await rm(roots, { recursive: true });
      expect(refused.code).not.toBe(0);
      expect((await stat(at('master.key'))).uid).toBe(owner);
    });

    test('X8 tests of clients, connections and mail work as root, whose home folder the owner cannot enter', async () => {
      const home = await mkdtemp(join(tmpdir(), 'idctl-home-'));
      await mkdir(join(home, 'idctl'));
      await writeFile(join(home, 'idctl/idctl.yaml'), `baseUrl: ${url}\n`, { mode: 0o600 });
      const env = {
        ...{ IDCTL_CONFIG: '', XDG_CONFIG_HOME: home, HOME: home },
        ...{ IDCTL_KEY_FILE: at('master.key'), IDCTL_DATABASE: `sqlite:${at('idctl.db')}` },
        ...database,
      };
      const run = (line: string) => idctl(line.split(' '), env);
      const made = await run(
        'client create Wiki --org default --redirect-uri https://wiki.test/ --json',
      );
      expect(made.err).not.toContain('may not be read');
      const { clientId } = JSON.parse(made.out);
      const said = async (line: string) => {
        const { out, err } = await run(line);
        return out + err;
      };
      for (const line of [
        `client test ${clientId} --org default`,
        'sso test --org default',
        'ldap test --org default',
        'mail test ada@example.com',
      ])
        expect([line, await said(line)]).toEqual([
          line,
          expect.not.stringContaining('may not be read'),
        ]);
      expect(await said('mail test ada@example.com')).toContain(
        `Set mail.smtpUrl in ${join(home, 'idctl/idctl.yaml')}`,
      );
      await rm(home, { recursive: true });
    });

    const names = ['idctl.yaml', 'master.key', ...(dialect === 'sqlite' ? ['idctl.db'] : [])];
    beforeEach(async () => {
      more = {};
      for (const name of names) {
        if (!existsSync(at(name))) await cp(join(folder, name), at(name));
        await chown(at(name), owner, owner);
        await chmod(at(name), 0o600);
      }
    });

    const damages: [string, () => Promise<unknown>][] = [
      ['the key belongs to root', () => chown(at('master.key'), 0, 0)],
      ['the key belongs to another user', () => chown(at('master.key'), another, another)],
      ['the group can read the key', () => chmod(at('master.key'), 0o640)],
      ['all can read the key', () => chmod(at('master.key'), 0o644)],
      [
        'the key belongs to root, and its group can read it',
        async () => {
          await chown(at('master.key'), 0, owner);
          await chmod(at('master.key'), 0o640);
        },
      ],
      ['only root can read the configuration', () => chown(at('idctl.yaml'), 0, 0)],
      ...names.slice(2).flatMap((name): [string, () => Promise<unknown>][] => [
        ['the database belongs to root', () => chown(at(name), 0, 0)],
        ['the database belongs to another user', () => chown(at(name), another, another)],
        ['all can read the database', () => chmod(at(name), 0o644)],
        [
          'the journal of the database belongs to root',
          async () => {
            await writeFile(at(`${name}-wal`), '', { mode: 0o600 });
          },
        ],
      ]),
      [
        'the folder of the key was missing, and root made it and restored the copy',
        async () => {
          more = { IDCTL_KEY_FILE: at('keys/master.key') };
          await mkdir(at('keys'), { mode: 0o755 });
          await cp(at('master.key'), at('keys/master.key'));
          await chown(at('keys/master.key'), 0, 0);
        },
      ],
      [
        'the key was missing, and root restored its copy',
        async () => {
          await cp(at('master.key'), join(folder, 'master.key'));
          await rm(at('master.key'));
          expect(
            (await doctor()).find(({ name, ok }) => name === 'master key' && !ok)?.hint,
          ).toContain('restore the key file from its copy');
          await cp(join(folder, 'master.key'), at('master.key'));
          await chown(at('master.key'), 0, 0);
        },
      ],
    ];

    test.each(damages)(
      'X8 the daemon starts after root has followed each hint of doctor about a file: %s',
      async (_, damage) => {
        await damage();
        let said: Check[] = [];
        const followed: string[] = [];
        for (let times = 0; times < 4; times += 1) {
          said = await doctor();
          const hints = said.flatMap(({ ok, hint }) =>
            !ok && hint !== undefined && /^(chown|chmod) /.test(hint) ? [hint] : [],
          );
          if (hints.length === 0) break;
          for (const hint of hints) await promisify(execFile)('sh', ['-c', hint]);
          followed.push(...hints);
        }
        const failed = said.filter(({ ok }) => !ok).map(({ name }) => name);
        // The daemon does not run, and there is no resolver.
        expect([failed, followed.length > 0]).toEqual([['base URL', 'resolver'], true]);
        expect(await serve(owner)).toBe(owner);
      },
    );

    test('X8 a configuration that only root can read is reported, with the command that gives it to the daemon’s user', async () => {
      const file = at('idctl.yaml');
      await chown(file, 0, 0);
      await chmod(file, 0o600);
      const remedy = `chown ${owner} ${file}`;
      expect((await idctl(['status'])).out.replace(/\s+/g, ' ')).toContain(`Run: ${remedy}`);
      expect((await idctl(['config', 'check'])).err).toContain(`Run: ${remedy}`);
      const asOwner = { env: settings(), uid: owner, gid: owner };
      const refused = await promisify(execFile)(process.execPath, [main, 'status'], asOwner).catch(
        (error) => error,
      );
      expect(refused.stderr).toContain(`hint: As root, run: ${remedy}\n`);
      await promisify(execFile)('sh', ['-c', remedy]);
      expect((await idctl(['config', 'check'])).err).not.toContain('chown');
    });

    test('X8 the hint about a password that others can read also gives the file to the daemon’s user', async () => {
      const file = at('idctl.yaml');
      const before = await readFile(file, 'utf8');
      const text = `baseUrl: ${url}\ndatabase: { url: postgres://idctl:secret@127.0.0.1:1/idctl }\n`;
      await writeFile(file, text);
      await chown(file, 0, 0);
      await chmod(file, 0o644);
      const warn = async () => (await idctl(['config', 'check'], { IDCTL_DATABASE: '' })).err;
      expect(await warn()).toContain(`Run: chown ${owner} ${file} && chmod 600 ${file}`);
      await chown(file, owner, owner);
      expect(await warn()).toContain(`Run: chmod 600 ${file}`);
      await writeFile(file, before);
    });

    test('X8 init gives a configuration that root wrote before to the daemon’s user, but not the target of a link', async () => {
      const place = await mkdtemp(join(folder, 'new-'));
      await chown(place, owner, owner);
      const file = join(place, 'idctl.yaml');
      const target = join(folder, 'target.yaml');
      const init = async () =>
        idctl(['init', '--yes'], {
          IDCTL_CONFIG: file,
          ...(dialect === 'postgres' ? { IDCTL_DATABASE: await freshDatabaseUrl() } : {}),
        });
      for (const path of [file, target]) {
        await writeFile(path, `baseUrl: ${url}\n`, { mode: 0o600 });
        await chown(path, 0, 0);
      }
      expect(await init()).toMatchObject({ code: 0 });
      expect((await stat(file)).uid).toBe(owner);
      await rm(place, { recursive: true });
      await mkdir(place);
      await chown(place, owner, owner);
      await symlink(target, file);
      await init();
      expect([(await stat(target)).uid, (await stat(join(place, 'master.key'))).uid]).toEqual([
        0,
        owner,
      ]);
    });

    test('X8 doctor as root says that the owner of a file stops the other checks', async () => {
      await chown(at('master.key'), 0, 0);
      const { out } = await idctl(['doctor']);
      expect(out).toMatch(
        /\n1 of 3 checks failed\. Correct the file owners to run the other checks\.\n$/,
      );
    });

    test('X8 doctor as root does not find a fault with the owner of a whole instance', async () => {
      expect(await failures()).toEqual(['base URL', 'resolver']);
    });

    test.runIf(dialect === 'postgres')(
      'X8 if root owns the key and its folder, the daemon of root stays with root',
      async () => {
        const roots = await mkdtemp(join(tmpdir(), 'idctl-roots-'));
        const key = join(roots, 'master.key');
        await cp(at('master.key'), key);
        await chown(key, 0, 0);
        more = { IDCTL_KEY_FILE: key };
        expect(await serve(0)).toBe(0);
        expect(await failures()).toEqual(['base URL', 'resolver']);
        await rm(roots, { recursive: true });
      },
    );
  },
);
