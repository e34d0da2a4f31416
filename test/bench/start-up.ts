import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Figure, figure, median } from './figures.ts';

const root = resolve(import.meta.dirname, '../..');

/** What a command costs before it does anything, against a Node that does nothing (goal 7); of a build, as it is installed. */
export async function benchStartUp(rounds: number): Promise<Figure[]> {
  execFileSync(process.execPath, [join(root, 'scripts/build.ts')]);
  const main = join(root, 'dist/main.js');
  const folder = await mkdtemp(join(tmpdir(), 'idctl-bench-'));
  const env = { PATH: process.env['PATH'] ?? '', IDCTL_CONFIG: join(folder, 'idctl.yaml') };
  const commands = {
    nothing: ['-e', '0'],
    version: [main, '--version'],
    help: [main, '--help'],
    verbHelp: [main, 'org', 'create', '--help'],
    database: [main, 'org', 'list'],
  };
  const run = (words: string[]) => {
    const began = performance.now();
    const { status } = spawnSync(process.execPath, words, { env, stdio: 'ignore' });
    if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}`);
    return performance.now() - began;
  };
  run([main, 'init', '--yes']);
  const times: Record<string, number[]> = { nothing: [], version: [], help: [], verbHelp: [], database: [] };
  for (let round = 0; round < rounds * 5; round += 1) {
    for (const [name, words] of Object.entries(commands)) times[name]?.push(run(words));
  }
  // Of the build, or bin/idctl of this checkout would go on starting it.
  await Promise.all([folder, join(root, 'dist')].map((path) => rm(path, { recursive: true, force: true })));
  const typical = (name: keyof typeof commands) => median(times[name] ?? []);
  const ratio = (name: keyof typeof commands) => typical(name) / typical('nothing');
  return [
    figure('node -e 0', typical('nothing'), 'ms'),
    figure('--version, against it', ratio('version'), '×', { most: 1.6 }),
    figure('--help, against it', ratio('help'), '×', { most: 1.6 }),
    figure('org create --help, against it', ratio('verbHelp'), '×'),
    figure('org list, against it', ratio('database'), '×', { most: 8 }),
  ];
}
