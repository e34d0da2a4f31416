import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { createClient } from '../support/http.ts';

/** The measures: `name` in the table, `short` in the plot, the unit, the highest rise or `null`. */
export const measures = {
  rss: { name: 'resident memory', short: 'resident', unit: 'MB', mayRise: 12 },
  heap: { name: 'heap used', short: 'heap used', unit: 'MB', mayRise: 8 },
  external: { name: 'external memory', short: 'external', unit: 'MB', mayRise: 8 },
  handles: { name: 'open file handles', short: 'all', unit: '', mayRise: 4 },
  sockets: { name: 'sockets among them', short: 'sockets', unit: '', mayRise: 4 },
  connections: { name: 'handles of the database', short: 'database', unit: '', mayRise: 2 },
  delay: { name: 'event-loop delay, p99', short: 'p99', unit: 'ms', mayRise: null },
  delayMedian: { name: 'event-loop delay, median', short: 'median', unit: 'ms', mayRise: null },
  idleDelay: {
    name: 'p99 of an idle process',
    short: 'p99 of an idle process',
    unit: 'ms',
    mayRise: null,
  },
  delayRatio: { name: 'p99 against that process', short: 'ratio', unit: '×', mayRise: 2 },
  requests: { name: 'requests a second', short: 'requests', unit: '', mayRise: null },
} as const;

export type Measure = keyof typeof measures;

/** The daemon at one moment. */
export type Sample = Record<Measure, number> & { seconds: number };

// The samplers of delay tick at this interval, and include it in their values.
const tickMs = 10;

/** The watched daemon. */
export interface Watched {
  pid: number;
  metricsUrl: string;
  database: string;
}

/** Reads the memory, handles and delay of the daemon, and the delay of an idle process. */
export async function takeSample(
  of: Watched,
  idle: IdleProcess,
): Promise<Omit<Sample, 'seconds' | 'requests'>> {
  const [metrics, open, rss, idleDelay] = await Promise.all([
    readMetrics(of.metricsUrl),
    countHandles(of),
    readResident(of.pid),
    idle.delay(),
  ]);
  const megabytes = (name: string) => (metrics.get(name) ?? 0) / 1048576;
  const late = (name: string) => Math.max(0, 1000 * (metrics.get(name) ?? 0) - tickMs);
  const delay = late('nodejs_eventloop_lag_p99_seconds');
  return {
    rss,
    heap: megabytes('nodejs_heap_size_used_bytes'),
    external: megabytes('nodejs_external_memory_bytes'),
    ...open,
    delayMedian: late('nodejs_eventloop_lag_p50_seconds'),
    delay,
    idleDelay,
    delayRatio: (delay + tickMs) / (idleDelay + tickMs),
  };
}

const idleProgram = `const delay = require('node:perf_hooks').monitorEventLoopDelay();
delay.enable();
process.on('message', () => {
  process.send(Math.max(0, delay.percentile(99) / 1e6 - ${tickMs}));
  delay.reset();
});`;

/** A process that does nothing, so that only the machine causes its delay. */
export interface IdleProcess {
  /** The 99th percentile since the last call, in milliseconds. */
  delay(): Promise<number>;
  stop(): void;
}

/** Starts an idle process. */
export function startIdleProcess(): IdleProcess {
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc'] as const;
  const child = spawn(process.execPath, ['-e', idleProgram], { stdio: [...stdio] });
  return {
    async delay(): Promise<number> {
      child.send('report');
      return Number((await once(child, 'message'))[0]);
    },
    stop: () => void child.kill(),
  };
}

/** The value of every series, named with its labels. */
export async function readMetrics(url: string): Promise<Map<string, number>> {
  const { body } = await createClient(url).get('/metrics');
  const lines = String(body)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

/** The resident memory of a process, in megabytes. */
export async function readResident(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

/**
 * Counts the open handles, the sockets, and the handles of the database: its files, or connections
 * to its server.
 */
async function countHandles({ pid, database }: Watched) {
  const folder = `/proc/${pid}/fd`;
  const links = await Promise.all(
    (await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => '')),
  );
  const sockets = links.filter((link) => link.startsWith('socket:'));
  const file = /^sqlite:(.*)/.exec(database)?.[1];
  const own = file === undefined ? await serverSockets(pid, new URL(database)) : new Set<string>();
  const isOfDatabase = (link: string) =>
    file === undefined ? own.has(link) : link.startsWith(file);
  return {
    handles: links.filter((link) => link !== '').length,
    sockets: sockets.length,
    connections: links.filter(isOfDatabase).length,
  };
}

/** The sockets of this machine that are connected to the server's port. */
async function serverSockets(pid: number, { port }: URL): Promise<Set<string>> {
  const peer = `:${Number(port).toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = (await readFile(`/proc/${pid}/net/tcp`, 'utf8')).trim().split('\n').slice(1);
  const rows = lines.map((line) => line.trim().split(/\s+/));
  return new Set(rows.filter((row) => row[2]?.endsWith(peer)).map((row) => `socket:[${row[9]}]`));
}
