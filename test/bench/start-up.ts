import { spawnSync } from 'node:child_process';
import { type Figure, figure, median } from './figures.ts';
import type { Release } from './release.ts';

/**
 * Measures how long a release's commands take to start, against a Node that does nothing (goal 7).
 */
export function benchStartUp({ idctl, env }: Release, rounds: number): Figure[] {
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
  const times: Record<string, number[]> = {
    nothing: [],
    version: [],
    help: [],
    verbHelp: [],
    database: [],
  };
  for (let round = 0; round < rounds * 5; round += 1) {
    for (const [name, words] of Object.entries(commands)) times[name]?.push(run(words));
  }
  const typical = (name: keyof typeof commands) => median(times[name] ?? []);
  const ratio = (name: keyof typeof commands) => typical(name) / typical('nothing');
  return [
    figure('node -e 0', typical('nothing'), 'ms'),
    figure('--version, against it', ratio('version'), '×', { most: 1.6 }),
    figure('--help, against it', ratio('help'), '×', { most: 1.6 }),
    figure('org create --help, against it', ratio('verbHelp'), '×'),
    figure('org list, against it', ratio('database'), '×', { most: 6 }),
  ];
}
