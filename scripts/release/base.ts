import { createHash } from 'node:crypto';
import {
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
import { basename, join } from 'node:path';
import { type Arch, archs, run } from './tree.ts';

// The base of the image: the few Debian packages that Node and a shell need, pinned by digest in
// packaging/base.json. `node scripts/release/base.ts` pins their newest versions there.

const mirrors = {
  bookworm: 'http://deb.debian.org/debian',
  'bookworm-security': 'http://deb.debian.org/debian-security',
};
const names = ['base-files', 'busybox-static', 'libc6', 'libgcc-s1', 'libstdc++6'];

interface Pinned {
  package: string;
  version: string;
  arch: Arch['debian'];
  url: string;
  sha256: string;
}

/**
 * Writes the base for this processor into `root`, from the packages that `lock` pins. `cache` keeps
 * the downloaded packages.
 */
export async function writeBase(
  root: string,
  arch: Arch,
  lock: string,
  cache: string,
): Promise<void> {
  mkdirSync(cache, { recursive: true });
  for (const folder of ['usr/bin', 'usr/lib', 'usr/lib64', 'etc', 'tmp', 'proc', 'sys', 'dev'])
    mkdirSync(join(root, folder), { recursive: true });
  symlinkSync('bin', join(root, 'usr/sbin'));
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(root, name));
  const pinned: Pinned[] = JSON.parse(readFileSync(lock, 'utf8'));
  for (const one of pinned.filter((each) => each.arch === arch.debian)) {
    const file = await download(one, cache);
    run(
      root,
      'sh',
      '-c',
      'dpkg-deb --fsys-tarfile "$1" | tar x --keep-directory-symlink',
      'sh',
      file,
    );
  }
  keepRun(root, arch);
  for (const name of ['sh', 'cat', 'date', 'env', 'id', 'ls', 'readlink', 'rm', 'sleep'])
    symlinkSync('busybox', join(root, 'usr/bin', name));
  writeAccounts(root);
}

/** Removes the files that idctl does not use. Licences stay. */
function keepRun(root: string, { libraries }: Arch): void {
  for (const path of ['usr/lib/systemd', 'var', 'home', 'root', 'etc'])
    rmSync(join(root, path), { recursive: true, force: true });
  run(root, 'find', 'usr/share', '!', '-type', 'd', '!', '-name', 'copyright', '-delete');
  run(root, 'find', 'usr/share', '-type', 'd', '-empty', '-delete');
  for (const name of ['gconv', 'perl', 'audit'])
    rmSync(join(root, 'usr/lib', libraries, name), { recursive: true, force: true });
  for (const name of readdirSync(join(root, 'usr/bin')))
    if (name !== 'busybox') rmSync(join(root, 'usr/bin', name));
}

function writeAccounts(root: string): void {
  const write = (path: string, ...lines: string[]) =>
    writeFileSync(join(root, path), `${lines.join('\n')}\n`);
  mkdirSync(join(root, 'etc'));
  symlinkSync('../usr/lib/os-release', join(root, 'etc/os-release'));
  write(
    'etc/passwd',
    'root:x:0:0:root:/:/bin/sh',
    'idctl:x:65532:65532:idctl:/var/lib/idctl:/bin/sh',
  );
  write('etc/group', 'root:x:0:', 'idctl:x:65532:');
  write('etc/nsswitch.conf', 'passwd: files', 'group: files', 'hosts: files dns');
}

async function download(one: Pinned, cache: string): Promise<string> {
  const file = join(cache, decodeURIComponent(basename(one.url)));
  if (existsSync(file) && hashOf(readFileSync(file)) === one.sha256) return file;
  const answer = await fetch(one.url);
  const content = Buffer.from(await answer.arrayBuffer());
  if (!answer.ok || hashOf(content) !== one.sha256)
    throw new Error(
      `${one.url} is not the pinned package (${answer.status}). ` +
        'If Debian has replaced it, run: node scripts/release/base.ts',
    );
  writeFileSync(file, content);
  return file;
}

function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Finds the newest version of each package, and pins it. */
async function pin(): Promise<void> {
  const pinned: Pinned[] = [];
  for (const { debian } of archs) {
    const found = new Map<string, Pinned>();
    for (const [suite, mirror] of Object.entries(mirrors))
      for (const one of await listed(suite, mirror, debian)) {
        const before = found.get(one.package);
        if (before === undefined || isNewer(one.version, before.version))
          found.set(one.package, one);
      }
    pinned.push(...names.flatMap((name) => found.get(name) ?? []));
  }
  const lock = join(import.meta.dirname, '../../packaging/base.json');
  writeFileSync(lock, `${JSON.stringify(pinned, null, 2)}\n`);
}

/** The index of a suite, with the digests of its files. Checks Debian's signature. */
async function signedIndex(suite: string, mirror: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'idctl-base-'));
  try {
    writeFileSync(join(folder, 'InRelease'), await fetched(`${mirror}/dists/${suite}/InRelease`));
    const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
    const index = run(
      folder,
      'gpgv',
      '--quiet',
      '--keyring',
      keyring,
      '--output',
      '-',
      'InRelease',
    );
    const [, until] = /^Valid-Until: (.*)$/m.exec(index) ?? [];
    // The signature of another suite, or of an older index, is valid too.
    if (!index.includes(`\nCodename: ${suite}\n`) || (until && new Date(until) < new Date()))
      throw new Error(`${mirror}: this is not the current index of ${suite}`);
    return index;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function fetched(url: string): Promise<Buffer> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}

/** The packages of a suite that the base needs, from its index. */
async function listed(suite: string, mirror: string, arch: Arch['debian']): Promise<Pinned[]> {
  const path = `main/binary-${arch}/Packages.xz`;
  const index = await fetched(`${mirror}/dists/${suite}/${path}`);
  const lines = (await signedIndex(suite, mirror)).split('\n').map((line) => line.split(/ +/));
  // The index also lists MD5 digests, and a file may have several lines.
  if (!lines.some(([, sum, , name]) => name === path && sum === hashOf(index)))
    throw new Error(`${mirror}: ${path} is not what Debian has signed`);
  const file = join(import.meta.dirname, `../../.tmp/Packages-${suite}-${arch}`);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(`${file}.xz`, index);
  run('.', 'xz', '--decompress', '--force', `${file}.xz`);
  const text = readFileSync(file, 'utf8');
  rmSync(file);
  return text.split('\n\n').flatMap((entry) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(entry)?.[1] ?? '';
    if (!names.includes(field('Package'))) return [];
    const path = field('Filename').split('/').map(encodeURIComponent).join('/');
    return {
      package: field('Package'),
      version: field('Version'),
      arch,
      url: `${mirror}/${path}`,
      sha256: field('SHA256'),
    };
  });
}

function isNewer(version: string, than: string): boolean {
  try {
    run('.', 'dpkg', '--compare-versions', version, 'gt', than);
    return true;
  } catch {
    return false;
  }
}

if (process.argv[1] === import.meta.filename) await pin();
