import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { main, surroundings, untilReady } from '../../support/daemon.ts';
import { createClient } from '../../support/http.ts';
import { type Installation, install } from '../../support/installation.ts';
import { freePorts } from '../../support/ports.ts';

// If the log fails, lines may be lost, but the daemon must still serve.

let site: Installation;
beforeEach(async () => {
  site = await install();
});
afterEach(() => site.close());

/** Starts a daemon whose log goes to this file descriptor, or to a pipe. */
async function serveTo(log: number | 'pipe') {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const { database, keyFile } = site;
  const settings = { IDCTL_DATABASE: database, IDCTL_KEY_FILE: keyFile, IDCTL_BASE_URL: url };
  const words = [main, 'serve', '--listen', `127.0.0.1:${port}`];
  const env = { ...surroundings(), ...settings, IDCTL_LOG_LEVEL: 'debug' };
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'ignore', log] });
  const ended = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  await untilReady(url, () => (child.exitCode === null ? null : `${child.exitCode}`));
  const stop = async () => {
    child.kill('SIGTERM');
    return (await ended)[0];
  };
  return { url, stderr: child.stderr, stop };
}

/** More lines than fit into a pipe and into the memory kept for them. */
const many = 5_000;
const path = `/${'long'.repeat(60)}`;

async function ask(url: string, times: number): Promise<Set<number>> {
  const client = createClient(url);
  const statuses = new Set<number>();
  for (let at = 0; at < times; at += 50) {
    const asked = Array.from({ length: 50 }, () => client.get(path));
    for (const { status } of await Promise.all(asked)) statuses.add(status);
  }
  return statuses;
}

test('with its log on a full disk, the daemon still serves, and exits with code 0 when it is stopped', async () => {
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(full));
  const daemon = await serveTo(full);
  expect(await ask(daemon.url, 200)).toEqual(new Set([404]));
  expect((await createClient(daemon.url).get('/readyz')).status).toBe(200);
  expect(await daemon.stop()).toBe(0);
});

test('if the reader of its log is gone, the daemon still serves, and exits with code 0 when it is stopped', async () => {
  const daemon = await serveTo('pipe');
  daemon.stderr?.destroy();
  expect(await ask(daemon.url, 200)).toEqual(new Set([404]));
  expect(await daemon.stop()).toBe(0);
});

test('if the reader of its log stalls, the daemon drops lines, logs how many, and delays no answer', async () => {
  const daemon = await serveTo('pipe');
  expect(await ask(daemon.url, many)).toEqual(new Set([404]));
  const lines = createInterface({ input: daemon.stderr ?? process.stdin });
  let read = 0;
  for await (const line of lines) {
    const { msg, count } = JSON.parse(line);
    if (msg === 'request') read += 1;
    if (msg !== 'log lines were lost') continue;
    expect(count).toBeGreaterThan(0);
    expect(read + count).toBeGreaterThanOrEqual(many);
    break;
  }
  const answered = once(lines, 'line');
  expect(await ask(daemon.url, 50)).toEqual(new Set([404]));
  await answered;
  expect(await daemon.stop()).toBe(0);
}, 60_000);
