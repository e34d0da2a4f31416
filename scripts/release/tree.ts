import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

// The files of a release: the same for the archive, the package and the image.

/** A processor, by the name that each format gives it. */
export interface Arch {
  /** The name for npm and Node. */
  node: 'x64' | 'arm64';
  /** The name for Debian and OCI. */
  debian: 'amd64' | 'arm64';
  /** The folder of Debian's libraries. */
  libraries: string;
}

/** The processors that a release is made for. */
export const archs: Arch[] = [
  { node: 'x64', debian: 'amd64', libraries: 'x86_64-linux-gnu' },
  { node: 'arm64', debian: 'arm64', libraries: 'aarch64-linux-gnu' },
];

/** Runs a program in a folder and returns its output. If it fails, the error has the output. */
export function run(cwd: string, program: string, ...words: string[]): string {
  try {
    return execFileSync(program, words, {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 2 ** 28,
    });
  } catch (error) {
    // execFileSync adds stdout and stderr to its error.
    const { stdout = '', stderr = '' } = Object(error) as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${words.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/**
 * Builds the committed sources in `folder/sources`, with the help page and completions. The result
 * is the same for all processors.
 */
export function buildSources(
  checkout: string,
  folder: string,
  { version, commit, date }: { version: string; commit: string; date: string },
): string {
  const sources = join(folder, 'sources');
  mkdirSync(sources, { recursive: true });
  run(checkout, 'sh', '-c', 'git archive "$1" | tar x -C "$2"', 'sh', commit, sources);
  addPackages(sources, '--include=dev', '--include=optional');
  const manifest = join(sources, 'package.json');
  const written = readFileSync(manifest, 'utf8');
  writeFileSync(manifest, written.replace(/(?<="version": ")[^"]*/, version));
  execFileSync(join(sources, 'node_modules/.bin/node'), ['scripts/build.ts'], {
    cwd: sources,
    env: { ...process.env, BUILT_FROM: `${commit} ${date}` },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  mkdirSync(join(sources, 'completions'));
  for (const shell of ['bash', 'zsh', 'fish'])
    writeFileSync(
      join(sources, 'completions', `idctl.${shell}`),
      run(sources, 'bin/idctl', 'completion', shell),
    );
  // Node's compiled code belongs to one processor and one user. It is made where idctl runs.
  for (const name of readdirSync(join(sources, 'dist/compiled')))
    rmSync(join(sources, 'dist/compiled', name), { recursive: true });
  return sources;
}

/** Writes the tree of a release for this processor into `to`. */
export function writeTree(sources: string, to: string, arch: Arch): void {
  mkdirSync(to, { recursive: true });
  for (const path of ['package.json', 'package-lock.json', '.npmrc'])
    cpSync(join(sources, path), join(to, path));
  const machine = ['--os=linux', `--cpu=${arch.node}`, '--libc=glibc'];
  addPackages(to, '--omit=dev', '--include=optional', ...machine);
  for (const path of ['package-lock.json', '.npmrc', 'node_modules/.package-lock.json'])
    rmSync(join(to, path));
  for (const path of ['bin', 'dist', 'LICENSE'])
    cpSync(join(sources, path), join(to, path), { recursive: true });
  keepUsed(to, arch);
}

/** Installs exactly the packages of the lockfile, without install scripts. */
function addPackages(folder: string, ...flags: string[]): void {
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--engine-strict=false'];
  run(folder, 'npm', 'ci', '--ignore-scripts', ...quiet, ...flags);
}

/** Removes packages that the bundle contains, and files that no program reads. */
function keepUsed(tree: string, arch: Arch): void {
  const modules = join(tree, 'node_modules');
  const used = [...usedPackages(tree), join(modules, `node-linux-${arch.node}`)];
  for (const name of packagesIn(modules)) {
    const folder = join(modules, name);
    if (!used.some((path) => path === folder || path.startsWith(`${folder}/`)))
      rmSync(folder, { recursive: true });
  }
  for (const name of readdirSync(join(modules, '.bin')))
    if (name !== 'node') rmSync(join(modules, '.bin', name));
  keepOnly(join(modules, `node-linux-${arch.node}`), ['bin/node', 'LICENSE', 'package.json']);
  keepOnly(join(modules, 'swagger-ui-dist'), [
    'LICENSE',
    'package.json',
    'swagger-ui-bundle.js',
    'swagger-ui.css',
  ]);
  for (const path of filesIn(modules)) {
    if (isUnread(path) || isForeign(path, arch)) rmSync(join(modules, path));
    else if (!/(^|\/)bin\/node$/.test(path)) withoutExecution(join(modules, path));
  }
  removeEmptyFolders(modules);
}

/** Whether the file is a library for another processor or another C library. */
function isForeign(path: string, { node }: Arch): boolean {
  const [, machine] = /\/prebuilds\/([^/]+)\//.exec(path) ?? [];
  return machine !== undefined && (machine !== `linux-${node}` || path.includes('.musl.'));
}

/** Makes a file not executable, because idctl does not run a program of a package except Node. */
function withoutExecution(file: string): void {
  if (lstatSync(file).isFile()) chmodSync(file, 0o644);
}

/** Whether no program reads the file: types, source maps, docs, settings of tools, or tests. */
function isUnread(path: string): boolean {
  if (/(^|\/)(licen[cs]e|notice|copying)[^/]*$/i.test(path)) return false;
  return (
    /\.(map|md|markdown|ts|cts|mts|cpp|cc|c|h|gyp|flow|yml|tgz)$/i.test(path) ||
    /\/\.[^/]+/.test(path) ||
    /^((@[^/]+\/)?[^/]+)\/(test|tests|__tests__|example|examples|docs)\//.test(path)
  );
}

/** The folders of the packages that the bundle imports, and of their dependencies. */
function usedPackages(tree: string): Set<string> {
  const dist = join(tree, 'dist');
  const named = readdirSync(dist)
    .filter((name) => name.endsWith('.js'))
    .flatMap((name) => [...readFileSync(join(dist, name), 'utf8').matchAll(importPattern)])
    .map(([, name = '']) => name);
  const used = new Set<string>();
  /** Looks where Node looks: in `node_modules` of this folder, then of the folders above. */
  const use = (name: string, from: string): void => {
    const folder = join(from, 'node_modules', name);
    if (!existsSync(join(folder, 'package.json'))) {
      if (from !== tree) use(name, dirname(from));
    } else if (!used.has(folder)) {
      used.add(folder);
      for (const needed of neededBy(folder)) use(needed, folder);
    }
  };
  for (const name of named) use(name, tree);
  return used;
}

/** The packages that a package may load, including optional ones. */
function neededBy(folder: string): string[] {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { dependencies, optionalDependencies, peerDependencies } = Object(manifest);
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
}

/** The package in `from 'NAME/…'`, `import('NAME')`, `require('NAME')` and `resolve('NAME')`. */
const importPattern =
  /(?:from|import|import\(|require\(|resolve\()\s*["'`]((?:@[\w.-]+\/)?[\w.-]+)(?:\/[^"'`]*)?["'`]/g;

function packagesIn(modules: string): string[] {
  return readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@')
        ? readdirSync(join(modules, name)).map((part) => `${name}/${part}`)
        : [name],
    );
}

function keepOnly(folder: string, kept: string[]): void {
  for (const path of filesIn(folder)) if (!kept.includes(path)) rmSync(join(folder, path));
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

function removeEmptyFolders(folder: string): void {
  run(folder, 'find', '.', '-mindepth', '1', '-type', 'd', '-empty', '-delete');
}
