import { execFile } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { imageTagOf } from '../../scripts/release/version.ts';
import { untilReady } from './daemon.ts';
import { type Client, createClient } from './http.ts';
import { blocksIn } from './operations.ts';
import { freePorts } from './ports.ts';

// The output of `npm run release`, for tests.

/** Runs a program whose output may be long. If it fails, the error includes the output. */
export async function run(program: string, words: string[], options: object = {}) {
  const settings = { encoding: 'utf8' as const, maxBuffer: 2 ** 28, ...options };
  try {
    return await promisify(execFile)(program, words, settings);
  } catch (error) {
    if (error instanceof Error && 'stdout' in error) error.message += `\n${error.stdout}`;
    throw error;
  }
}

const checkout = resolve(import.meta.dirname, '../..');

/** Runs scripts/release.sh, which makes a release of the last commit. Returns what it prints. */
export async function makeRelease(
  words: string[],
  env: Record<string, string> = {},
): Promise<string> {
  const options = { env: { ...process.env, ...env } };
  return (await run(join(checkout, 'scripts/release.sh'), words, options)).stdout;
}

/** A release, and the URL of its daemons in the test. */
export interface Release {
  folder: string;
  version: string;
  commit: string;
  files: { name: string; bytes: number }[];
  images: { platform: string; unpacked: number }[];
  url: string;
  /** The path of its only file whose name ends with `end`. */
  file(end: string): string;
  /** A block of docs/install.md, for this version, this processor and this address. */
  typed(heading: string, at: number): string;
  ready(): Promise<void>;
  /** A browser in which the first owner has signed in. */
  signIn(password: string): Promise<Client>;
}

/** Opens the release that `setup-packages.ts` has made. */
export async function openRelease(): Promise<Release> {
  const folder = process.env['IDCTL_TEST_RELEASE'] ?? '';
  const about = JSON.parse(readFileSync(join(folder, 'release.json'), 'utf8'));
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  return {
    ...about,
    folder,
    url,
    file: (end) => {
      const names = readdirSync(folder).filter((name) => name.endsWith(end));
      if (names.length !== 1) throw new Error(`${names.length} files end with ${end}`);
      return join(folder, names.join());
    },
    typed: (heading, at) =>
      withVersion(blockBelow(heading, at), about.version)
        .replaceAll('_amd64', `_${process.arch === 'x64' ? 'amd64' : 'arm64'}`)
        .replaceAll('-x64', `-${process.arch}`)
        .replaceAll('127.0.0.1:8420', new URL(url).host),
    ready: () => untilReady(url, () => null),
    signIn: async (password) => {
      const client = createClient(url, { keepCookies: true });
      const given = { email: 'ada@example.com', password };
      const { status } = await client.post('/api/v1/auth/login', given);
      if (status !== 200) throw new Error(`the sign-in answers ${status}`);
      return client;
    },
  };
}

/** The text with this version in place of the versions of the examples. */
export function withVersion(text: string, version: string): string {
  return text.replaceAll(/(idctl:)?0\.[12]\.0/g, (_, image) =>
    image === undefined ? version : `idctl:${imageTagOf(version)}`,
  );
}

/** A code block below a heading of docs/install.md, as a reader types it. */
function blockBelow(heading: string, at: number): string {
  const page = readFileSync(join(checkout, 'docs/install.md'), 'utf8');
  const section = page.split(/^##? /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const block = blocksIn(section, 'sh')[at];
  if (block === undefined) throw new Error(`docs/install.md has no block ${at} below ${heading}`);
  return block;
}

/**
 * Builds the package `newer` from the package `file`: the same files with another version, and one
 * more migration, which changes nothing. Works in the new folder `work`, and removes it.
 */
export async function writeNewer(
  file: string,
  newer: string,
  version: string,
  work: string,
): Promise<void> {
  await run('dpkg-deb', ['--raw-extract', file, work]);
  const script = `
    release=$(ls usr/lib/idctl/releases)
    mv usr/lib/idctl/releases/$release usr/lib/idctl/releases/${version}
    ln -sfn ../lib/idctl/releases/${version}/bin/idctl usr/bin/idctl
    sed -i "s/^Version: .*/Version: ${version}/" DEBIAN/control
    sed -i "s/$release/${version}/g" DEBIAN/p*
    cd usr/lib/idctl/releases/${version}
    sed -i 's/"version": "[^"]*"/"version": "${version}"/' package.json
    list='^.. src.database.migrations.index.ts$'
    sed -i "/$list/,/^];/s/^];/, { name: '${nextMigration}', async up() {} } ];/" $(grep -l "$list" dist/*.js)
    grep -q ${nextMigration} dist/*.js`;
  await run('sh', ['-euc', script], { cwd: work });
  await run('dpkg-deb', ['--root-owner-group', '-Znone', '--build', work, newer]);
  await rm(work, { recursive: true });
}

/** The migration that only a package of `writeNewer` has. */
export const nextMigration = '9999-next';

const processors: Record<number, string> = { 62: 'x64', 183: 'arm64' };

/** The processors that the programs and libraries below a folder are made for, each once. */
export function processorsBelow(folder: string): string[] {
  const header = Buffer.alloc(20);
  const found = new Set<string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = openSync(join(entry.parentPath, entry.name), 'r');
    const isElf = readSync(file, header) === 20 && header.subarray(0, 4).equals(elf);
    closeSync(file);
    const machine = header.readUInt16LE(18);
    if (isElf) found.add(processors[machine] ?? `machine ${machine}`);
  }
  return [...found];
}

const elf = Buffer.from('\x7fELF', 'latin1');

/**
 * Unpacks the image of one processor from the unpacked layout, and returns the image's settings.
 */
export async function unpackImage(layout: string, architecture: string, to: string) {
  const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
  const blob = (digest: string) => join(layout, 'blobs', digest.replace(':', '/'));
  const list = json(blob(json(join(layout, 'index.json')).manifests[0].digest));
  const { digest } = list.manifests.find(
    ({ platform }: { platform: { architecture: string } }) =>
      platform.architecture === architecture,
  );
  const { layers, config } = json(blob(digest));
  for (const layer of layers) await run('tar', ['-xzf', blob(layer.digest), '-C', to]);
  return json(blob(config.digest)).config;
}
