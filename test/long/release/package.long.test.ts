import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
} from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { counterpartMissing, rootMissing } from '../../support/counterpart.ts';
import { bootable, bootDebian, type Debian, writeDebian } from '../../support/debian.ts';
import type { Client } from '../../support/http.ts';
import {
  nextMigration,
  openRelease,
  type Release,
  run,
  writeNewer,
} from '../../support/release.ts';

// Tests the package, as docs/install.md says, in a fresh Debian 12 that systemd has booted.

const skipped =
  rootMissing() || counterpartMissing('debootstrap') || counterpartMissing('systemd-container');
const checkout = resolve(import.meta.dirname, '../../..');
const processor = process.arch === 'x64' ? 'amd64' : 'arm64';
const secret = 'correct horse battery';

describe.skipIf(skipped)('the package, in a fresh Debian 12', () => {
  let folder: string;
  let release: Release;
  let newer: string;
  let debian: Debian;
  const root = () => join(folder, 'debian');

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'idctl-package-'));
    release = await openRelease();
    await writeDebian(root(), 'bookworm', bootable);
    const file = release.file(`_${processor}.deb`);
    cpSync(file, join(root(), 'root', basename(file)));
    newer = `${release.version}.next`;
    const path = join(root(), `root/idctl_${newer}_${processor}.deb`);
    await writeNewer(file, path, newer, join(folder, 'newer'));
    await writeFile(join(root(), 'root/password'), secret);
    debian = await bootDebian(root());
  }, 3_600_000);
  afterAll(async () => {
    await debian?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** The commands of a block of docs/install.md, by default for the next version. */
  const typed = (at: number, version = newer) =>
    release
      .typed('Debian package', at)
      .replaceAll(release.version, version)
      .replace(/\bapt (install|remove|purge)/g, 'apt $1 --yes');
  const type = (at: number, version = newer) => debian.run(`cd /root; ${typed(at, version)}`);
  const at = (path: string) => existsSync(join(root(), path));
  const namesIn = (path: string) => readdirSync(join(root(), path));
  const released = () => namesIn('usr/lib/idctl/releases');
  const ofRelease = () => `${release.version}-${release.commit.slice(0, 8)}`;
  const statusIn = async (browser: Client) => (await browser.get('/api/v1/me')).status;
  const running = () =>
    debian.run('cat /proc/$(systemctl show --value --property MainPID idctl)/cmdline');
  const setUp = () =>
    debian.run(`idctl init --yes --org Acme --owner ada@example.com \
      --base-url ${release.url} --owner-password-file /root/password`);

  /**
   * How many files of a daemon Node compiles again, although the daemon's user cannot keep the result.
   * The daemon is one of another instance.
   */
  const notCompiled = () =>
    debian.run(`cd /tmp; install -d -o idctl -m 700 other
      cat >other/start <<'END'
        export IDCTL_CONFIG=/tmp/other/idctl.yaml NODE_DEBUG_NATIVE=COMPILE_CACHE
        idctl init --yes >/dev/null 2>&1
        timeout 10 idctl serve --listen 127.0.0.1:0 >/tmp/other/log 2>&1
        read=$(grep -c 'reading cache' /tmp/other/log)
        found=$(grep -c 'reading cache .*success' /tmp/other/log)
        [ "$found" -gt 300 ] && of=hundreds || of=$read
        echo "$((read - found)) of $of"
        ! [ -w /usr/lib/idctl/releases/*/dist/compiled ] || echo writable
        find -L /usr/lib/idctl/releases/*/dist/compiled -writable
END
      runuser -u idctl -- sh /tmp/other/start; rm -r other`);

  /** The names of the database copies that were made before the migration to the next version. */
  const copies = () =>
    namesIn('var/lib/idctl').filter((name) => name.startsWith(`idctl.db.before-${nextMigration}-`));

  /** Runs a query on a database file in the container, and returns its first row. */
  function look(name: string, sql: string): unknown {
    const database = new DatabaseSync(join(root(), 'var/lib/idctl', name), { readOnly: true });
    const row = database.prepare(sql).get();
    database.close();
    return row;
  }

  test('can be installed, upgraded and downgraded with live sessions, removed and purged', async () => {
    const [install = '', , ...start] = typed(0, release.version).split('\n');
    const installed = await debian.run(`cd /root; ${install}`);
    expect(installed).toContain('idctl init && systemctl enable --now idctl');
    const states = 'systemctl is-enabled idctl idctl-backup.timer || true';
    expect(await debian.run(states)).toBe('disabled\ndisabled\n');
    for (const path of ['man/man1/idctl.1.gz', 'bash-completion/completions/idctl'])
      expect(at(`usr/share/${path}`)).toBe(true);

    await setUp();
    expect(await notCompiled()).toBe('0 of hundreds\n');
    const files = '/etc/idctl/idctl.yaml /etc/idctl/master.key /var/lib/idctl/idctl.db';
    expect(await debian.run(`stat --format %a:%U ${files} | uniq`)).toBe('600:idctl\n');
    expect(await debian.run(start.join('\n'))).toMatch(/^Daemon: +ready/m);
    const browser = await release.signIn(secret);

    // A wrong configuration prevents the restart. The files of the running daemon stay.
    appendFileSync(join(root(), 'etc/idctl/idctl.yaml'), 'unknown: 1\n');
    const before = await running();
    expect(await type(1)).toContain('unknown');
    expect(await running()).toBe(before);
    expect(released()).toHaveLength(2);
    expect(copies()).toEqual([]);
    expect(await statusIn(browser)).toBe(200);
    await debian.run('sed -i /^unknown/d /etc/idctl/idctl.yaml; systemctl restart idctl');
    expect(await statusIn(browser)).toBe(200);
    expect(await running()).toContain(`/releases/${newer}/`);

    // The copy from before the migration makes the downgrade possible.
    const [copy = '', ...others] = copies();
    expect(others).toEqual([]);
    expect(await debian.run(`stat --format %a:%U /var/lib/idctl/${copy}`)).toBe('600:idctl\n');
    const migrated = `SELECT (SELECT count(*) FROM accounts) AS accounts,
      (SELECT count(*) FROM migrations WHERE name = '${nextMigration}') AS migrated`;
    expect(look('idctl.db', migrated)).toEqual({ accounts: 1, migrated: 1 });
    expect(look(copy, migrated)).toEqual({ accounts: 1, migrated: 0 });
    const refused = await type(2, release.version);
    expect(refused).toContain(`the copy made before the upgrade: /var/lib/idctl/${copy}`);
    expect(refused).toContain('the daemon of the newer version still runs');
    expect(await running()).toContain(`/releases/${newer}/`);
    expect(await statusIn(browser)).toBe(200);
    // What the package tells to type does the same as the page.
    const [, told = ''] = /Stop the daemon and run: (.*)/.exec(refused) ?? [];
    expect(told).toContain(`mv /var/lib/idctl/${copy} /var/lib/idctl/idctl.db`);
    await type(3);
    await release.ready();
    expect(await statusIn(browser)).toBe(200);
    expect(await running()).toContain(`/releases/${ofRelease()}/`);

    await type(1);
    await release.ready();
    expect(await statusIn(browser)).toBe(200);
    expect(await debian.run('idctl --version')).toContain(newer);
    expect(released()).toEqual([newer]);
    expect(copies()).toHaveLength(1);

    await type(4);
    await expect(fetch(`${release.url}/readyz`)).rejects.toThrow();
    expect(at('usr/lib/idctl')).toBe(false);
    expect(at('etc/idctl/master.key')).toBe(true);
    const purged = await debian.run('apt-get purge --yes idctl');
    expect(purged).toContain('stay in /etc/idctl and /var/lib/idctl');
    expect(at('var/lib/idctl/idctl.db')).toBe(true);
    await type(1);
    await type(5);
    expect(at('etc/idctl') || at('var/lib/idctl')).toBe(false);
    expect(await debian.run('getent passwd idctl || echo none')).toBe('none\n');
  });

  test('replaces an installation from a clone, and keeps its data and live sessions', async () => {
    await addNpm();
    const clone = join(root(), 'root/clone');
    mkdirSync(clone);
    const archive = 'git archive "$1" | tar x -C "$2"';
    await run('sh', ['-euc', archive, 'sh', release.commit, clone], { cwd: checkout });
    await debian.run('cd /root/clone; ./install.sh', { NODE_EXTRA_CA_CERTS: '/root/authorities' });
    await setUp();
    await debian.run(`cp /usr/local/lib/idctl/current/config/idctl*.* /etc/systemd/system/
      systemctl enable --now idctl idctl-backup.timer`);
    const browser = await release.signIn(secret);
    expect(await running()).toContain('/usr/local/lib/idctl/');

    const moved = await debian.run(`cd /root/clone; mv ../*.deb .; ${typed(6, release.version)}`);
    expect(moved).not.toContain('To set idctl up');
    await release.ready();
    expect(await statusIn(browser)).toBe(200);
    expect(await running()).toContain(`/usr/lib/idctl/releases/${ofRelease()}/`);
    expect(at('usr/local/bin/idctl') || at('usr/local/lib/idctl')).toBe(false);
    const units = 'systemctl show --value --property FragmentPath idctl idctl-backup.timer';
    expect(await debian.run(`${units} | grep --count ^/lib/systemd/system/`)).toBe('2\n');
    const states = 'systemctl is-enabled idctl idctl-backup.timer';
    expect(await debian.run(states)).toBe('enabled\nenabled\n');
  });

  /** Puts this machine's Node, npm and settings for the registry into the container. */
  async function addNpm(): Promise<void> {
    const local = join(root(), 'usr/local');
    cpSync(process.execPath, join(local, 'bin/node'));
    const npm = resolve(process.env['npm_execpath'] ?? '', '../..');
    cpSync(npm, join(local, 'lib/node_modules/npm'), { recursive: true });
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
    const settings = process.env['npm_config_userconfig'] ?? join(homedir(), '.npmrc');
    if (existsSync(settings)) cpSync(settings, join(root(), 'root/.npmrc'));
    const authorities = process.env['NODE_EXTRA_CA_CERTS'] ?? '/dev/null';
    await writeFile(join(root(), 'root/authorities'), readFileSync(authorities));
  }
});
