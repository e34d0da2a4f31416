import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from '../support/ports.ts';
import { type Figure, figure, median } from './figures.ts';
import type { Release } from './release.ts';

/**
 * Measures the time to a daemon's first answer, against bare Express, and its idle memory (goal 7).
 */
export async function benchDaemonStart({ idctl, env }: Release, rounds: number): Promise<Figure[]> {
  const express: Start[] = [];
  const daemon: Start[] = [];
  for (let round = 0; round < rounds * 3; round += 1) {
    const [first, second] = await freePorts(2);
    const hello = [process.execPath, '-e', bareExpress, `${first}`];
    express.push(await start(hello, env, `http://127.0.0.1:${first}/`, 0));
    const listen = `127.0.0.1:${second}`;
    daemon.push(
      await start([idctl, 'serve', '--listen', listen], env, `http://${listen}/healthz`, 3000),
    );
  }
  const typical = (starts: Start[], of: keyof Start) => median(starts.map((each) => each[of]));
  const ratio = typical(daemon, 'milliseconds') / typical(express, 'milliseconds');
  return [
    figure('bare Express, first answer', typical(express, 'milliseconds'), 'ms'),
    figure('idctl serve, first answer, against it', ratio, '×', { most: 3.5 }),
    figure('idctl serve, idle', typical(daemon, 'megabytes'), 'MB', { most: 100 }),
  ];
}

const bareExpress = `require('express')().get('/', (_, answer) => answer.json({ hello: 'world' }))
  .listen(Number(process.argv[1]), '127.0.0.1')`;

interface Start {
  milliseconds: number;
  /** The resident memory after the idle time. */
  megabytes: number;
}

async function start(
  words: string[],
  env: Release['env'],
  url: string,
  idle: number,
): Promise<Start> {
  const [program = '', ...more] = words;
  const began = performance.now();
  const child = spawn(program, more, { env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  try {
    while (
      !(await fetch(url)
        .then((answer) => answer.ok)
        .catch(() => false))
    ) {
      if (child.exitCode !== null)
        throw new Error(`${words.join(' ')} ended with ${child.exitCode}`);
      await pause(5);
    }
    const milliseconds = performance.now() - began;
    await pause(idle);
    return { milliseconds, megabytes: await resident(child.pid) };
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

async function resident(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}
