import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { startDaemon } from '../support/daemon.ts';
import { figure, table } from './figures.ts';
import { type Neighbour, openSite } from './neighbour-site.ts';

// `npm run bench:neighbour -- [--rounds N]` lets one organization do its worst, while another
// process asks `/healthz` every 50 ms. It prints the longest time without an answer, and how much
// the memory of the daemon grew. SQLite.

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '10' } } });
const rounds = Number(values.rounds);

const site = await openSite();
const daemon = await startDaemon({ database: site.database, keyFile: site.keyFile, env: site.env });
const watcher = fork(new URL('./neighbour-watch.ts', import.meta.url), [`${daemon.url}/healthz`]);
try {
  const neighbour = await site.enter(daemon.url);
  // In the first round, the daemon loads what it loads once. In the second, V8 reaches its size.
  for (let round = 0; round < 2; round += 1) await doWorst(neighbour);
  const before = await memoryOf(daemon.pid);
  await gapOf(watcher);
  for (let round = 0; round < rounds; round += 1) await doWorst(neighbour);
  const gap = await gapOf(watcher);
  const grown = (await memoryOf(daemon.pid)) - before;
  process.stdout.write(
    table(`One organization at its worst, ${rounds} rounds`, [
      figure('longest time without an answer of /healthz', gap, 'ms', { most: 250 }),
      figure('RSS before', before, 'MB'),
      figure('  growth in all', grown, 'MB', { most: 60 }),
    ]),
  );
  const answers = Object.entries(neighbour.answers).map(([what, count]) => `${what}: ${count}\n`);
  process.stdout.write(answers.join(''));
} finally {
  watcher.kill();
  await daemon.stop();
  await site.close();
}

/** One round of everything that an organization can ask at the same time. */
async function doWorst({ plan, importMappings, preview, push, test }: Neighbour): Promise<void> {
  const times = (count: number, work: () => Promise<void>) => Array.from({ length: count }, work);
  await Promise.all([
    ...times(12, plan),
    ...times(3, importMappings),
    ...times(6, preview),
    ...times(2, push),
    ...times(6, test),
  ]);
}

/** The longest gap since the last question, in milliseconds. */
async function gapOf(child: ChildProcess): Promise<number> {
  child.send('report');
  const [gap] = await once(child, 'message');
  return Number(gap);
}

async function memoryOf(pid: number): Promise<number> {
  const [, kib] = /^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}
