import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { digestOf, gzip, writeTar } from './release/archive.ts';
import { writePackage } from './release/deb.ts';
import { addImage, finishLayout, type Image } from './release/image.ts';
import { writeBill } from './release/sbom.ts';
import { archs, buildSources, run, writeTree } from './release/tree.ts';

// `npm run release [-- DIR]` writes archives, packages and images of the last commit, to DIR or
// dist/release. The same commit gives the same bytes. docs/install.md lists the needed programs.

const checkout = dirname(import.meta.dirname);
const release = resolve(process.argv[2] ?? join(checkout, 'dist/release'));
const cache = join(checkout, '.tmp/packages');

const [commit = '', date = '', time = ''] = run(
  checkout,
  ...['git', 'log', '-1', '--format=%H %cs %ct'],
)
  .trim()
  .split(' ');
const epoch = Number(process.env['SOURCE_DATE_EPOCH'] ?? time);
process.umask(0o022);
if (run(checkout, 'git', 'status', '--porcelain') !== '')
  say('This checkout has changes that are not committed. The release does not contain them.');
if (existsSync(release) && !isRelease(release))
  throw new Error(`${release} is neither empty nor a release`);
const work = mkdtempSync(join(tmpdir(), 'idctl-release-'));
const made = join(work, 'release');
try {
  mkdirSync(made);
  await write();
  // Last, so that a failed build leaves the earlier release in place.
  rmSync(release, { recursive: true, force: true });
  mkdirSync(dirname(release), { recursive: true });
  run(work, 'cp', '--archive', made, release);
  say(`Written to ${release}`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

function isRelease(folder: string): boolean {
  return readdirSync(folder).length === 0 || existsSync(join(folder, 'release.json'));
}

async function write(): Promise<void> {
  say(`Building commit ${commit.slice(0, 12)}`);
  const sources = buildSources(checkout, work, commit, date);
  const { version } = JSON.parse(readFileSync(join(sources, 'package.json'), 'utf8')) as {
    version: string; // npm requires it.
  };
  const layout = join(work, 'layout');
  mkdirSync(layout);
  const images: Image[] = [];
  for (const arch of archs) {
    say(`Packing for ${arch.node}`);
    const tree = join(work, arch.node);
    writeTree(sources, tree, arch);
    const place = (name: string): string => {
      mkdirSync(join(work, name));
      return join(work, name);
    };
    writePackage(join(made, `idctl_${version}_${arch.debian}.deb`), place(`deb-${arch.node}`), {
      ...{ arch, sources, tree, version, commit, epoch },
    });
    images.push(
      await addImage(layout, place(`image-${arch.node}`), cache, {
        ...{ arch, tree, version, commit, epoch },
        base: join(sources, 'packaging/base.json'),
      }),
    );
    for (const path of ['config', 'docs', 'man', 'completions', 'README.md', 'CHANGELOG.md'])
      run(sources, 'cp', '--recursive', path, tree);
    const name = `idctl-${version}-linux-${arch.node}`;
    writeTar(tree, join(made, `${name}.tar`), { epoch, prefix: name });
    gzip(join(made, `${name}.tar`));
  }
  finishLayout(layout, images, version);
  writeTar(layout, join(made, `idctl-${version}.oci.tar`), { epoch });
  writeBill(sources, join(made, `idctl-${version}.cdx.json`), epoch);
  describe(version, images);
}

/** Writes the digests and release.json, and prints the sizes. */
function describe(version: string, images: Image[]): void {
  const files = readdirSync(made)
    .sort()
    .map((name) => {
      const file = join(made, name);
      return { name, bytes: statSync(file).size, sha256: digestOf(file) };
    });
  const about = {
    version,
    commit,
    date: new Date(epoch * 1000).toISOString(),
    files,
    images: images.map(({ digest, platform, unpacked }) => ({
      platform: `${platform.os}/${platform.architecture}`,
      digest,
      unpacked,
    })),
  };
  writeFileSync(join(made, 'release.json'), `${JSON.stringify(about, null, 2)}\n`);
  const summed = [...files, { name: 'release.json', sha256: digestOf(join(made, 'release.json')) }];
  writeFileSync(
    join(made, 'SHA256SUMS'),
    summed.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''),
  );
  for (const { name, bytes } of files) say(`${inMegabytes(bytes)}  ${name}`);
  for (const { platform, unpacked } of images)
    say(`${inMegabytes(unpacked)}  unpacked image, ${platform.architecture}`);
}

function inMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1).padStart(6)} MB`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
