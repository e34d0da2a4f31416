import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Containers, openContainers } from '../../support/containers.ts';
import { counterpartMissing, rootMissing } from '../../support/counterpart.ts';
import { bootDebian, type Debian, writeDebian } from '../../support/debian.ts';
import type { Client } from '../../support/http.ts';
import {
  makeRelease,
  openRelease,
  processorsBelow,
  type Release,
  run,
  unpackImage,
  writeOlder,
} from '../../support/release.ts';

// What people install, made by `npm run release` and used as docs/install.md says: the package in a fresh Debian 12
// that systemd has booted, the image in containers of Podman. It needs the networks of npm and Debian. With
// IDCTL_TEST_RELEASE it takes a release that is there already.

const needed = ['debootstrap', 'lintian', 'podman', 'runc', 'systemd-container'] as const;
const canRun = !rootMissing() && !needed.some((name) => counterpartMissing(name));
const processor = process.arch === 'x64' ? 'amd64' : 'arm64';
let folder: string;
let release: Release;

beforeAll(async () => {
  if (!canRun) return;
  folder = await mkdtemp(join(tmpdir(), 'idctl-release-test-'));
  const made = process.env['IDCTL_TEST_RELEASE'] ?? join(folder, 'release');
  if (!existsSync(made)) await makeRelease(made);
  release = await openRelease(made);
}, 3_600_000);
afterAll(async () => {
  if (canRun) await rm(folder, { recursive: true, force: true });
});

const copyInto = (to: string, file: string) => cpSync(file, join(to, basename(file)));
const statusIn = async (browser: Client) => (await browser.get('/api/v1/me')).status;

describe.skipIf(!canRun)('a release', () => {
  test('the same commit gives the same bytes, and SHA256SUMS names each file', async () => {
    const again = join(folder, 'again');
    await makeRelease(again);
    const sums = await readFile(join(release.folder, 'SHA256SUMS'), 'utf8');
    expect(await readFile(join(again, 'SHA256SUMS'), 'utf8')).toBe(sums);
    await rm(again, { recursive: true });
    await run('sh', ['-euc', release.typed('Installing idctl', 0)], { cwd: release.folder });
    expect(sums.trim().split('\n')).toHaveLength(readdirSync(release.folder).length - 1);
  }, 3_600_000);

  test('it has every file for both processors, and their sizes', async () => {
    const { version } = release;
    expect(release.files.map(({ name }) => name)).toEqual([
      `idctl-${version}-linux-arm64.tar.gz`,
      `idctl-${version}-linux-x64.tar.gz`,
      `idctl-${version}.cdx.json`,
      `idctl-${version}.oci.tar`,
      `idctl_${version}_amd64.deb`,
      `idctl_${version}_arm64.deb`,
    ]);
    const bill = JSON.parse(await readFile(release.file('.cdx.json'), 'utf8'));
    expect(bill.bomFormat).toBe('CycloneDX');
    const found = bill.components.map(({ name }: { name: string }) => name);
    expect(found).toContain('express');
    const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
    for (const { name, bytes } of release.files)
      process.stdout.write(`${megabytes(bytes)}  ${name}\n`);
    for (const { platform, unpacked } of release.images) {
      process.stdout.write(`${megabytes(unpacked)}  unpacked image, ${platform}\n`);
      expect(unpacked).toBeLessThan(180e6);
    }
  });

  test('each file has programs of its own processor alone', async () => {
    const layout = join(folder, 'layout');
    mkdirSync(layout);
    await run('tar', ['-xf', release.file('.oci.tar'), '-C', layout]);
    for (const [name, debian] of Object.entries({ x64: 'amd64', arm64: 'arm64' })) {
      const unpacked = await mkdtemp(join(folder, 'unpacked-'));
      await run('tar', ['-xzf', release.file(`linux-${name}.tar.gz`), '-C', unpacked]);
      expect(processorsBelow(unpacked)).toEqual([name]);
      await unpackImage(layout, debian, unpacked);
      await run('dpkg-deb', ['-x', release.file(`_${debian}.deb`), unpacked]);
      expect(processorsBelow(unpacked)).toEqual([name]);
      await rm(unpacked, { recursive: true });
    }
    await rm(layout, { recursive: true });
  });

  test('lintian finds no error in the packages', async () => {
    const packages = [release.file('_amd64.deb'), release.file('_arm64.deb')];
    const words = ['--allow-root', '--fail-on', 'error', ...packages];
    expect((await run('lintian', words)).stdout).not.toMatch(/^E:/m);
  });

  test('an ordinary user unpacks and runs the archive, without npm and network', async () => {
    const home = join(folder, 'home');
    mkdirSync(home);
    copyInto(home, release.file(`linux-${process.arch}.tar.gz`));
    await run('chown', ['-R', '65534:65534', home]);
    await chmod(folder, 0o755);
    const script = [
      release
        .typed('Archive', 0)
        .replace('idctl init', `idctl init --yes --base-url ${release.url}`)
        .replace('idctl serve', 'idctl serve 2>log & daemon=$!'),
      'until ~/.local/bin/idctl status --ready --quiet >/dev/null; do sleep 1; done',
      '~/.local/bin/idctl org list',
      'kill $daemon; wait $daemon',
      release.typed('Archive', 1),
      '~/.local/bin/idctl org list',
      release.typed('Archive', 2),
      'ls -A . .config/idctl .local/share/idctl',
    ].join('\n');
    const env = { HOME: home, PATH: '/usr/bin:/bin:/usr/sbin:/sbin' };
    const user = ['--reuid=65534', '--regid=65534', '--clear-groups'];
    const words = ['--net', 'sh', '-euc', `ip link set lo up; exec "$@"`, 'sh'];
    const { stdout } = await run('unshare', [...words, 'setpriv', ...user, 'sh', '-euc', script], {
      env,
      cwd: home,
    });
    expect(stdout.match(/^default /gm)).toHaveLength(2);
    expect(stdout).toMatch(/idctl\.db/);
    expect(stdout).toMatch(/master\.key/);
  });
});

describe.skipIf(!canRun)('the package, in a fresh Debian 12', () => {
  const secret = 'correct horse battery';
  let debian: Debian;
  const root = () => join(folder, 'debian');

  beforeAll(async () => {
    await writeDebian(root());
    const newer = release.file(`_${processor}.deb`);
    copyInto(join(root(), 'root'), newer);
    const older = join(root(), `root/idctl_0.0.9_${processor}.deb`);
    await writeOlder(newer, older, join(folder, 'older'));
    await writeFile(join(root(), 'root/password'), secret);
    debian = await bootDebian(root());
  }, 3_600_000);
  afterAll(() => debian.close());

  const released = () => readdirSync(join(root(), 'usr/lib/idctl/releases'));
  const at = (path: string) => existsSync(join(root(), path));
  const upgrade = () => debian.run(`cd /root; ${release.typed('Debian package', 1)}`);
  const goBack = () =>
    debian.run(
      `cd /root; ${release.typed('Debian package', 2).replace('install', 'install --yes')}`,
    );

  test('install, sign in, upgrade with live sessions, go back, remove and purge', async () => {
    const init = `idctl init --yes --org Acme --owner ada@example.com --base-url ${release.url} \
      --owner-password-file /root/password`;
    const first = release
      .typed('Debian package', 0)
      .replaceAll(release.version, '0.0.9')
      .split('\n');
    const [install = '', , ...start] = first;
    const installed = await debian.run(`cd /root; ${install}`);
    expect(installed).toContain('idctl init && systemctl enable --now idctl');
    const states = 'systemctl is-enabled idctl idctl-backup.timer || true';
    expect(await debian.run(states)).toBe('disabled\ndisabled\n');
    for (const path of ['man/man1/idctl.1.gz', 'bash-completion/completions/idctl'])
      expect(at(`usr/share/${path}`)).toBe(true);

    await debian.run(init);
    const files = '/etc/idctl/idctl.yaml /etc/idctl/master.key /var/lib/idctl/idctl.db';
    expect(await debian.run(`stat --format %a:%U ${files} | uniq`)).toBe('600:idctl\n');
    expect(await debian.run(start.join('\n'))).toMatch(/^Daemon: +ready/m);
    const browser = await release.signIn(secret);

    await upgrade();
    await release.ready();
    expect(await statusIn(browser)).toBe(200);
    expect(await debian.run('idctl --version')).toContain(release.version);
    expect(released()).toEqual([`${release.version}-${release.commit.slice(0, 8)}`]);

    // The files of a daemon that runs on stay.
    appendFileSync(join(root(), 'etc/idctl/idctl.yaml'), 'unknown: 1\n');
    const running = 'cat /proc/$(systemctl show --value --property MainPID idctl)/cmdline';
    const before = await debian.run(running);
    expect(await goBack()).toContain('unknown');
    expect(await debian.run(running)).toBe(before);
    expect(released()).toHaveLength(2);
    expect(await statusIn(browser)).toBe(200);
    await debian.run('sed -i /^unknown/d /etc/idctl/idctl.yaml; systemctl restart idctl');
    expect(await statusIn(browser)).toBe(200);
    expect(await debian.run(running)).toContain('/releases/0.0.9/');

    await debian.run(release.typed('Debian package', 3).replace('remove', 'remove --yes'));
    await expect(fetch(`${release.url}/readyz`)).rejects.toThrow();
    expect(at('usr/lib/idctl')).toBe(false);
    expect(at('etc/idctl/master.key')).toBe(true);
    const purged = await debian.run('apt-get purge --yes idctl');
    expect(purged).toContain('stay in /etc/idctl and /var/lib/idctl');
    expect(at('var/lib/idctl/idctl.db')).toBe(true);
    await upgrade();
    await debian.run(release.typed('Debian package', 4).replace('purge', 'purge --yes'));
    expect(at('etc/idctl') || at('var/lib/idctl')).toBe(false);
    expect(await debian.run('getent passwd idctl || echo none')).toBe('none\n');
  });
});

describe.skipIf(!canRun)('the image', () => {
  let containers: Containers;

  beforeAll(async () => {
    containers = await openContainers(join(folder, 'containers'), new URL(release.url).host);
    copyInto(join(folder, 'containers'), release.file('.oci.tar'));
  });
  afterAll(() => containers.close());

  test('it runs read-only as 65532, is set up from the environment, and stops on SIGTERM', async () => {
    const shown = await containers.run(release.typed('Image', 0));
    const [, secret = ''] = /^Password: +(\S+)/m.exec(shown) ?? [];
    expect(shown).toMatch(/^Organization: +Example Ltd /m);
    await release.ready();
    const browser = await release.signIn(secret);
    const inside = (script: string) => containers.run(`docker exec idctl sh -c '${script}'`);
    expect(await inside('id -u; (echo x >/usr/x) 2>&1 || true')).toMatch(/^65532\n.*Read-only/);
    expect(await containers.run(release.typed('Image', 1))).toMatch(/^Daemon: +ready/m);

    expect(await containers.run('docker stop idctl >/dev/null; docker wait idctl')).toBe('0\n');
    const health = release.typed('Image', 0).split('\n').slice(1, 5).join('\n');
    await expect(
      containers.run(health.replace('init --yes', 'status --ready --quiet')),
    ).rejects.toMatchObject({ code: 1 });

    await containers.run(release.typed('Image', 2));
    await release.ready();
    expect(await statusIn(browser)).toBe(200);
    await containers.run(release.typed('Image', 3));
    expect(await containers.run('docker volume ls --quiet; docker images --quiet')).toBe('');
  });
});
