import { fork } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { digestOf, writeTar } from './release/archive.ts';
import { finishLayout, type Image } from './release/image.ts';
import { type Packing, packings, type Sent } from './release/pack.ts';
import { writeBill } from './release/sbom.ts';
import { type Arch, archs, buildSources, run } from './release/tree.ts';
import { versionOf } from './release/version.ts';

// `npm run release [-- DIR]` writes archives, packages and images of the last commit, to DIR or
// dist/release. The same commit gives the same bytes. docs/install.md lists the needed programs.

const usage = `Usage: npm run release -- [DIR] [--only deb|archive|image] [--arch amd64|arm64]

Builds the last commit, and writes the files to DIR (dist/release).
  --only KIND  only these files; repeat the option for several kinds
  --arch ARCH  only for this processor
`;

const start = performance.now();
const checkout = dirname(import.meta.dirname);
const { only, arches, folder } = readOptions();
const release = resolve(folder ?? join(checkout, 'dist/release'));

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
const version = versionOf(checkout, { commit, time: Number(time) });
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

function readOptions() {
  const options = {
    only: { type: 'string', multiple: true },
    arch: { type: 'string', multiple: true },
    help: { type: 'boolean' },
  } as const;
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const kinds: string[] = values.only ?? [...packings];
    const names: string[] = values.arch ?? archs.map(({ debian }) => debian);
    const only = packings.filter((kind) => kinds.includes(kind));
    const arches = archs.filter(({ debian }) => names.includes(debian));
    const unknown = [...kinds, ...names].filter(
      (word) => !only.some((kind) => kind === word) && !arches.some((arch) => arch.debian === word),
    );
    if (unknown.length > 0 || positionals.length > 1)
      throw new Error(`unknown argument: ${unknown[0] ?? positionals[1]}`);
    if (values.help !== true) return { only, arches, folder: positionals[0] };
    process.stdout.write(usage);
    process.exit();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${usage}`);
    process.exit(2);
  }
}

function isRelease(folder: string): boolean {
  return readdirSync(folder).length === 0 || existsSync(join(folder, 'release.json'));
}

async function write(): Promise<void> {
  say(`Building ${version}, commit ${commit.slice(0, 12)}`);
  const sources = buildSources(checkout, work, { version, commit, date });
  const layout = join(work, 'layout');
  mkdirSync(layout);
  const images = (await Promise.all(arches.map((arch) => pack(arch, sources, layout)))).flat();
  if (only.includes('image')) {
    finishLayout(layout, images, version);
    writeTar(layout, join(made, `idctl-${version}.oci.tar`), { epoch });
  }
  writeBill(sources, join(made, `idctl-${version}.cdx.json`), epoch);
  describe(images);
}

/** Packs the files of one processor in a process of its own. Returns its image, if it has one. */
async function pack(arch: Arch, sources: string, layout: string): Promise<Image[]> {
  const packing: Packing = { arch, sources, layout, only, version, commit, epoch, work, made };
  const cache = join(checkout, '.tmp/packages');
  const child = fork(join(import.meta.dirname, 'release/pack.ts'), [
    JSON.stringify({ ...packing, cache }),
  ]);
  const images: Image[] = [];
  child.on('message', (sent: Sent) => {
    if ('said' in sent) say(sent.said);
    else images.push(sent.image);
  });
  const code = await new Promise((done) => child.on('close', done));
  if (code !== 0) throw new Error(`the files for ${arch.debian} were not made`);
  return images;
}

/** Writes the digests and release.json, and prints the sizes. */
function describe(images: Image[]): void {
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

/** Prints a line with the time since the start. */
function say(text: string): void {
  const seconds = Math.round((performance.now() - start) / 1000);
  const passed = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  process.stdout.write(`${passed.padStart(5)}  ${text}\n`);
}
