import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, resolve } from 'node:path';
import { untilReady } from '../support/daemon.ts';
import { freePorts } from '../support/ports.ts';
import type { Release } from './release.ts';
import { readMetrics, readResident } from './soak-samples.ts';

/** How a daemon is started: by the wrapper as installed, or by Node with these flags. */
export interface Setting {
  name: string;
  flags: string[] | 'installed';
  env: Record<string, string>;
}

const one = { MALLOC_ARENA_MAX: '1' };
export const settings: Setting[] = [
  { name: 'nothing set', flags: [], env: {} },
  { name: 'the former wrapper', flags: ['--min-semi-space-size=16'], env: {} },
  { name: 'two arenas', flags: [], env: { MALLOC_ARENA_MAX: '2' } },
  { name: 'one arena', flags: [], env: one },
  { name: 'blocks mapped', flags: [], env: { MALLOC_MMAP_THRESHOLD_: '1048576' } },
  { name: 'one arena, 2 MB young', flags: ['--max-semi-space-size=2'], env: one },
  { name: 'one arena, 8 MB young', flags: ['--max-semi-space-size=8'], env: one },
  { name: 'bin/idctl', flags: 'installed', env: {} },
];

/** The memory of a daemon, in megabytes. */
export interface Sample {
  rss: number;
  heap: number;
  external: number;
  /** The processor time so far, in milliseconds. */
  cpu: number;
}

/** A daemon with one of the settings. */
export interface Subject {
  setting: Setting;
  url: string;
  measure(): Promise<Sample>;
  stop(): Promise<void>;
}

/** Starts a daemon with the setting. */
export async function startSubject(
  { idctl }: Release,
  setting: Setting,
  file: string,
  keyFile: string,
): Promise<Subject> {
  const [port, metricsPort] = await freePorts(2);
  const url = `http://127.0.0.1:${port}`;
  const program =
    setting.flags === 'installed'
      ? [idctl]
      : [process.execPath, ...setting.flags, resolve(dirname(idctl), '../dist/main.js')];
  const [run = '', ...words] = [...program, 'serve', '--listen', `127.0.0.1:${port}`];
  const child = spawn(run, words, {
    env: {
      PATH: process.env['PATH'] ?? '',
      UV_THREADPOOL_SIZE: '8',
      IDCTL_METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
      IDCTL_DATABASE: `sqlite:${file}`,
      IDCTL_KEY_FILE: keyFile,
      IDCTL_BASE_URL: url,
      IDCTL_LIMITS_ENABLED: 'off',
      ...setting.env,
    },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  await untilReady(url, () => (child.exitCode === null ? null : `${child.exitCode}`));
  return {
    setting,
    url,
    measure: () => measure(child, `http://127.0.0.1:${metricsPort}`),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function measure(child: ChildProcess, metricsUrl: string): Promise<Sample> {
  // Read before the metrics, because reading those takes memory too.
  const rss = await readResident(child.pid);
  const metrics = await readMetrics(metricsUrl);
  const of = (name: string) => metrics.get(name) ?? 0;
  return {
    rss,
    heap: of('nodejs_heap_size_used_bytes') / 1048576,
    external: of('nodejs_external_memory_bytes') / 1048576,
    cpu: of('process_cpu_seconds_total') * 1000,
  };
}
