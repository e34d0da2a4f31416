import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { counterpartMissing, rootMissing } from '../../support/counterpart.ts';
import {
  makeRelease,
  openRelease,
  processorsBelow,
  type Release,
  run,
  unpackImage,
} from '../../support/release.ts';

// Tests the files that `npm run release` makes. It needs the npm registry and a Debian mirror.

let folder: string;
let release: Release;

describe.skipIf(rootMissing() || counterpartMissing('lintian'))('a release', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'idctl-release-test-'));
    release = await openRelease();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('has the same bytes for the same commit, and SHA256SUMS names each file', async () => {
    const again = join(folder, 'again');
    const PATH = pathWithoutNode(join(folder, 'bin'));
    await expect(run('node', ['--version'], { env: { PATH } })).rejects.toThrow('ENOENT');
    await makeRelease([again], { PATH, TZ: 'Pacific/Auckland', LC_ALL: 'C.UTF-8' });
    const sums = await readFile(join(release.folder, 'SHA256SUMS'), 'utf8');
    expect(await readFile(join(again, 'SHA256SUMS'), 'utf8')).toBe(sums);
    await rm(again, { recursive: true });
    await run('sh', ['-euc', release.typed('Installing idctl', 0)], { cwd: release.folder });
    expect(sums.trim().split('\n')).toHaveLength(readdirSync(release.folder).length - 1);
  }, 3_600_000);

  test('can be made of one kind for one processor, and the output says how long it takes', async () => {
    const only = join(folder, 'only');
    const said = await makeRelease([only, '--only', 'deb', '--arch', 'amd64']);
    expect(said).toMatch(/^ +\d+:\d\d {2}amd64: Debian package$/m);
    const name = `idctl_${release.version}_amd64.deb`;
    expect(readdirSync(only).filter((one) => one.endsWith('.deb'))).toEqual([name]);
    expect(readdirSync(only).some((one) => /\.(gz|tar)$/.test(one))).toBe(false);
    expect(await readFile(join(only, name))).toEqual(await readFile(release.file('_amd64.deb')));
    await expect(makeRelease([only, '--arch', 'i386'])).rejects.toThrow('unknown argument: i386');
  }, 3_600_000);

  test('has every file for both processors, and no image is larger than 180 MB', async () => {
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

  test('has only programs for the right processor in each file', async () => {
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

  test('has packages in which lintian does not find an error', async () => {
    const packages = [release.file('_amd64.deb'), release.file('_arm64.deb')];
    const words = ['--allow-root', '--fail-on', 'error', ...packages];
    expect((await run('lintian', words)).stdout).not.toMatch(/^E:/m);
  });

  test('has an archive that an ordinary user can unpack and run, without npm or a network', async () => {
    const home = join(folder, 'home');
    mkdirSync(home);
    const archive = release.file(`linux-${process.arch}.tar.gz`);
    cpSync(archive, join(home, basename(archive)));
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

/** A folder with the programs of this machine, as a path, except Node and npm. */
function pathWithoutNode(bin: string): string {
  mkdirSync(bin);
  for (const place of ['/usr/sbin', '/usr/bin'])
    for (const name of readdirSync(place))
      if (!/^(node|npm|npx|corepack)/.test(name) && !existsSync(join(bin, name)))
        symlinkSync(join(place, name), join(bin, name));
  return bin;
}
