import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { type Plugin, type PluginContext, rolldown } from 'rolldown';

// Writes dist/: the sources without types, joined with the packages that most commands load. A
// command would otherwise spend most of its time on finding and reading 650 files (decision 11).
// The code looks for its other files in dist/. `node scripts/build.ts DIR` writes to DIR/dist, and
// copies bin/ and package.json. install.sh installs the bundler beside the sources.
const { PATH = '' } = process.env;
const root = dirname(import.meta.dirname);
const release = resolve(process.argv[2] ?? root);
const dist = join(release, 'dist');
const source = (path: string) => join(root, 'src', path);

/** The modules that the bundler has read. */
type Modules = Pick<PluginContext, 'getModuleInfo'>;

/** The packages to join, with all that they import. Other packages stay as npm installed them. */
const joined = [
  'chalk',
  'commander',
  'fast-string-truncated-width',
  'jose',
  'p-queue',
  'pino',
  'sequelize',
  'tldts',
  'yaml',
  'zod',
];

/** Leaves out what idctl never uses: zod's messages in other languages, Sequelize's other databases. */
const withoutUnused: Plugin = {
  name: 'without-unused',
  load(id) {
    if (id.endsWith('/zod/v4/locales/index.js')) return 'export {}';
    return /\/sequelize\/lib\/dialects\/(db2|mariadb|mssql|mysql|oracle|snowflake)\/index\.js$/.test(
      id,
    )
      ? 'module.exports = {}'
      : null;
  },
};

/**
 * Escapes characters beyond ASCII. A file with one such character takes twice the memory: V8 keeps
 * its text with two bytes for each character.
 */
const inAscii: Plugin = {
  name: 'in-ascii',
  renderChunk: (code) =>
    code.replace(
      /[^\0-\x7f]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
};

await writePrograms();
if (release !== root) {
  for (const path of ['bin', 'package.json'])
    cpSync(join(root, path), join(release, path), { recursive: true });
}
for (const file of ['style.css', 'passkeys.js'])
  copyFileSync(source(`http/pages/${file}`), join(dist, file));
writeBuild();
writeHelp();
await compile();

async function writePrograms(): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    // The program, and the code of five threads that it starts.
    input: [
      source('main.ts'),
      source('database/sqlite-reader.ts'),
      source('database/sqlite-checkpointer.ts'),
      source('database/sqlite-copier.ts'),
      source('http/body/body-worker.ts'),
      source('outbound/saml/saml-worker.ts'),
    ],
    platform: 'node',
    external,
    // Sequelize uses it only for fixed offsets, so leave out its history of time zones.
    resolve: { alias: { 'moment-timezone': 'moment-timezone/moment-timezone.js' } },
    preserveEntrySignatures: 'allow-extension',
    // Keep all code: tree shaking would drop a call that is made only because it may throw.
    treeshake: false,
    optimization: { inlineConst: false },
    plugins: [withoutUnused, inAscii],
  });
  const ahead = reachedFrom(['main.ts', 'cli/program.ts']);
  const opening = reachedFrom([
    ...['app.ts', 'config/load.ts', 'cli/operator.ts', 'cli/run.ts'],
    ...['database/node-sqlite.ts', 'database/sqlite-driver.ts'],
    ...[
      'services/foundation/authority/require.ts',
      'services/foundation/fields.ts',
      'services/foundation/page.ts',
    ],
  ]);
  await bundle.write({
    dir: dist,
    cleanDir: true,
    chunkFileNames: '[name]-[hash].js',
    comments: false,
    minify: false,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        {
          debugName: 'database',
          // Puts the code that every command needs to open the database into one file.
          name: (id, modules) => (opening(id, modules) && !ahead(id, modules) ? 'database' : null),
        },
      ],
    },
  });
  await bundle.close();
}

/**
 * Whether an import stays outside the bundle: a module of Node, a package that is not joined, or
 * `pg-hstore`, which Sequelize names but idctl does not install.
 */
function external(id: string, importer: string | undefined): boolean {
  if (/^[./\0]/.test(id)) return false;
  return id === 'pg-hstore' || !(joined.includes(id) || importer?.includes('/node_modules/'));
}

/** Whether these sources include the module, or import it directly or indirectly. */
function reachedFrom(paths: string[]): (id: string, modules: Modules) => boolean {
  const found = new Set<string>();
  const reach = (id: string, modules: Modules): void => {
    if (found.has(id)) return;
    found.add(id);
    for (const next of modules.getModuleInfo(id)?.importedIds ?? []) reach(next, modules);
  };
  return (id, modules) => {
    for (const path of paths) reach(source(path), modules);
    return found.has(id);
  };
}

/** Writes the commit and its date, from `BUILT_FROM` if a caller builds a copy, else from git. */
function writeBuild(): void {
  const [commit = null, date = null] = (process.env['BUILT_FROM'] ?? lastCommit())
    .split(' ')
    .filter(Boolean);
  writeFileSync(join(dist, 'build.json'), JSON.stringify({ commit, date }));
}

function lastCommit(): string {
  try {
    const words = ['log', '-1', '--format=%H %cs'];
    // Ignores a repository around the checkout, because it is a different one.
    const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(root) };
    return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: 'pipe', env }).trim();
  } catch {
    // The sources come from an archive, or git is missing.
    return '';
  }
}

/** Writes the first help page, so that idctl can show it without loading other code. */
function writeHelp(): void {
  writeFileSync(join(dist, 'help.txt'), run(['--help'], {}));
}

/**
 * Fills the folder of compiled code: runs two commands that load what most commands need, and a
 * daemon. The daemon's user cannot write the folder later.
 */
async function compile(): Promise<void> {
  const compiled = join(dist, 'compiled');
  mkdirSync(compiled);
  const folder = mkdtempSync(join(tmpdir(), 'idctl-build-'));
  const env = { IDCTL_CONFIG: join(folder, 'idctl.yaml') };
  run(['init', '--yes'], env);
  run(['org', 'list'], env);
  await serve(env);
  rmSync(folder, { recursive: true, force: true });
  // Node makes these files private, but every user of idctl must be able to read them.
  for (const name of ['', ...readdirSync(compiled, { recursive: true, encoding: 'utf8' })]) {
    const path = join(compiled, name);
    chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644);
  }
}

/** Runs the release as people run it. Node uses compiled code only with the same Node options. */
function run(words: string[], env: Record<string, string>): string {
  return execFileSync(join(release, 'bin/idctl'), words, {
    env: { PATH, ...env },
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

/** Runs a daemon until it listens. */
async function serve(env: Record<string, string>): Promise<void> {
  const child = spawn(join(release, 'bin/idctl'), ['serve', '--listen', '127.0.0.1:0'], {
    env: { PATH, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface(child.stderr))
    if (line.includes('"listening"')) child.kill('SIGTERM');
  const [code] = await ended;
  if (code !== 0) throw new Error(`idctl serve ended with ${code}`);
}
