import { execFileSync } from 'node:child_process';
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
import { type PluginContext, rolldown } from 'rolldown';

// Writes dist/: the sources without their types (`npm run check` has checked those), joined with the packages that
// nearly every command loads, because finding and reading 650 files was most of what a command cost (decision 0011).
// All lies flat in dist/, where the sources look for what is not code. `node scripts/build.ts [DIR]` writes it there,
// with what starts it. The bundler may be installed beside the checkout: install.sh does that.
const root = dirname(import.meta.dirname);
const release = resolve(process.argv[2] ?? root);
const dist = join(release, 'dist');
const source = (path: string) => join(root, 'src', path);

/** What the bundler has read. */
type Modules = Pick<PluginContext, 'getModuleInfo'>;

/** Packages that are joined in, with what they import; all others stay as npm has installed them. */
const joined = [
  'chalk',
  'commander',
  'fast-string-truncated-width',
  'p-queue',
  'pino',
  'sequelize',
  'yaml',
  'zod',
];

await writePrograms();
if (release !== root) {
  for (const path of ['bin', 'package.json'])
    cpSync(join(root, path), join(release, path), { recursive: true });
}
for (const file of ['style.css', 'passkeys.js'])
  copyFileSync(source(`http/pages/${file}`), join(dist, file));
writeBuild();
writeHelp();
compile();

async function writePrograms(): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    // Beside the program a thread and a process that it starts.
    input: [
      source('main.ts'),
      source('database/sqlite-reader.ts'),
      source('database/sqlite-copier.ts'),
    ],
    platform: 'node',
    external,
    // Sequelize asks it for nothing but fixed offsets: without the history of the world's clocks.
    resolve: { alias: { 'moment-timezone': 'moment-timezone/moment-timezone.js' } },
    preserveEntrySignatures: 'allow-extension',
    // Joined, and not a word changed: a call that is there only for what it throws would go, for one.
    treeshake: false,
    optimization: { inlineConst: false },
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
          // One file of what every command needs that opens the database.
          name: (id, modules) => (opening(id, modules) && !ahead(id, modules) ? 'database' : null),
        },
      ],
    },
  });
  await bundle.close();
}

/** Node's own, every package that is not joined in, and one that Sequelize names although it is not there. */
function external(id: string, importer: string | undefined): boolean {
  if (/^[./\0]/.test(id)) return false;
  return id === 'pg-hstore' || !(joined.includes(id) || importer?.includes('/node_modules/'));
}

/** Whether a module is one of these sources or is imported by them, however far off. */
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

/** Which commit this is, and of which day: as install.sh says it, which builds from a copy, or as git does. */
function writeBuild(): void {
  const [commit = null, date = null] = (process.env['BUILT_FROM'] ?? lastCommit())
    .split(' ')
    .filter(Boolean);
  writeFileSync(join(dist, 'build.json'), JSON.stringify({ commit, date }));
}

function lastCommit(): string {
  try {
    const words = ['log', '-1', '--format=%H %cs'];
    // A repository around the checkout is another one.
    const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(root) };
    return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: 'pipe', env }).trim();
  } catch {
    // From an archive, or without git.
    return '';
  }
}

/** The first page that people ask for, so that nothing has to be loaded to show it. */
function writeHelp(): void {
  writeFileSync(join(dist, 'help.txt'), run(['--help'], {}));
}

/** Each start keeps there what Node has made of the sources, for its user alone; these two what most commands need. */
function compile(): void {
  const compiled = join(dist, 'compiled');
  mkdirSync(compiled);
  const folder = mkdtempSync(join(tmpdir(), 'idctl-build-'));
  const env = { IDCTL_CONFIG: join(folder, 'idctl.yaml') };
  run(['init', '--yes'], env);
  run(['org', 'list'], env);
  rmSync(folder, { recursive: true, force: true });
  // Whoever runs idctl reads them, whoever has installed it.
  for (const name of ['', ...readdirSync(compiled, { recursive: true, encoding: 'utf8' })]) {
    const path = join(compiled, name);
    chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644);
  }
}

/** As it is run once installed: what is compiled counts only with the same options of Node. */
function run(words: string[], env: Record<string, string>): string {
  const { PATH = '' } = process.env;
  return execFileSync(join(release, 'bin/idctl'), words, {
    env: { PATH, ...env },
    encoding: 'utf8',
    stdio: 'pipe',
  });
}
