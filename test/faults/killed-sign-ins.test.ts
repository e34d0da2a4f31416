import { expect, onTestFinished, test } from 'vitest';
import { createClient } from '../support/http.ts';
import { install } from '../support/installation.ts';

// The daemon counts an attempt before the check (security P8). If the daemon is killed in between,
// the attempt stays counted, because no other process knows about it.

test('if the daemon is killed, each running sign-in costs at most one attempt, and the next sign-in succeeds', async () => {
  const site = await install();
  onTestFinished(() => site.close());
  const used = async () => {
    const [row] = await site.query('SELECT max(used) AS used FROM counters');
    return Number(row?.['used'] ?? 0);
  };
  const daemon = await site.serve();
  const signIn = (url: string) => createClient(url).post('/api/v1/auth/login', site.owner);
  const underWay = Array.from({ length: 6 }, () => signIn(daemon.url).catch(() => null));
  await expect.poll(used, { interval: 1 }).toBeGreaterThan(0);
  process.kill(daemon.pid, 'SIGKILL');
  await Promise.all(underWay);
  const left = await used();
  expect(left).toBeLessThanOrEqual(6);

  const next = await site.serve();
  expect((await signIn(next.url)).status).toBe(200);
  // A normal stop finishes the running sign-ins, and none of them stays counted.
  const before = await used();
  const finished = Array.from({ length: 3 }, () => signIn(next.url).catch(() => null));
  await expect.poll(used, { interval: 1 }).toBeGreaterThan(before);
  expect(await next.stop()).toBe(0);
  const statuses = (await Promise.all(finished)).map((answer) => answer?.status ?? 'cut');
  expect(statuses.filter((status) => status !== 200 && status !== 'cut')).toEqual([]);
  expect(await used()).toBe(before);
});
