import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Figure, figure, median } from './figures.ts';

const root = resolve(import.meta.dirname, '../..');

/** What a command costs before it does anything, against a Node that does nothing (goal 7); of a release, as it is installed. */
export async function benchStartUp(rounds: number): Promise<Figure[]> {
  // Below the checkout, where its packages are found.
  await mkdir(join(root, '.tmp'), { recursive: true });
  const folder = await mkdtemp(join(root, '.tmp/bench-'));
  execFileSync(process.execPath, [join(root, 'scripts/build.ts'), folder]);
  await mkdir(join(folder, 'node_modules/.bin'), { recursive: true });
  await symlink(process.execPath, join(folder, 'node_modules/.bin/node'));
  const idctl = join(folder, 'bin/idctl');
  const env = { PATH: process.env['PATH'] ?? '', IDCTL_CONFIG: join(folder, 'idctl.yaml') };
  const commands = {
    nothing: [process.execPath, '-e', '0'],
    version: [idctl, '--version'],
    help: [idctl, '--help'],
    verbHelp: [idctl, 'org', 'create', '--help'],
    database: [idctl, 'org', 'list'],
  };
  const run = ([program = '', ...words]: string[]) => {
    const began = performance.now();
    const { status } = spawnSync(program, words, { env, stdio: 'ignore' });
    if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}`);
    return performance.now() - began;
  };
  run([idctl, 'init', '--yes']);
  const times: Record<string, number[]> = { nothing: [], version: [], help: [], verbHelp: [], database: [] };
  for (let round = 0; round < rounds * 5; round += 1) {
    for (const [name, words] of Object.entries(commands)) times[name]?.push(run(words));
  }
  await rm(folder, { recursive: true, force: true });
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
