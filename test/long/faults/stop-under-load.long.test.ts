import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../support/http.ts';
import { install } from '../../support/installation.ts';
import { compare, expectNoFault } from '../../support/kills.ts';
import { openLedger, seededRandom } from '../../support/ledger.ts';
import { openLoad, setStage } from '../../support/mixed-load.ts';

test('§8 a daemon stopped under load exits with code 0, and each request is finished or has done nothing', async () => {
  const ledger = openLedger();
  const stage = await setStage({ ledger, random: seededRandom(2) });
  onTestFinished(() => stage.close());
  const { site } = stage;
  let daemon = await site.serve();
  stage.url = daemon.url;
  const load = await openLoad(stage);
  for (let time = 0; time < 4; time += 1) {
    const stopLoad = load.start();
    const enough = ledger.counts.acknowledged + 20;
    await expect.poll(() => ledger.counts.acknowledged, { interval: 5 }).toBeGreaterThan(enough);
    const began = performance.now();
    const stopped = daemon.stop();
    expect(await stopped).toBe(0);
    expect(performance.now() - began).toBeLessThan(10_000);
    await stopLoad();
    daemon = await site.serve();
    stage.url = daemon.url;
    // None of the writes that were cut off is stored.
    expect(await compare(stage)).toEqual([]);
    expectNoFault(stage, 'after the stop');
  }
}, 900_000);

test('§8 during 200 parallel sign-ins, the daemon answers /healthz', async () => {
  const site = await install({ env: { IDCTL_LIMITS_ENABLED: 'off' } });
  onTestFinished(() => site.close());
  const client = createClient((await site.serve()).url);
  let under = 200;
  const signIns = Array.from({ length: under }, async () => {
    const { status } = await client.post('/api/v1/auth/login', site.owner);
    under -= 1;
    return status;
  });
  const times: number[] = [];
  while (under > 0) {
    const began = performance.now();
    expect((await client.get('/healthz')).status).toBe(200);
    times.push(performance.now() - began);
    await pause(5);
  }
  // Sign-ins over the limit of waiting passwords are refused.
  const statuses = new Set(await Promise.all(signIns));
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  times.sort((a, b) => a - b);
  const p99 = times[Math.ceil(times.length * 0.99) - 1] ?? 0;
  process.stdout.write(`/healthz p99 ${p99.toFixed(0)} ms of ${times.length} answers\n`);
}, 900_000);
