import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { Daemon } from './daemon.ts';
import { openLedger, seededRandom } from './ledger.ts';
import { tryCredentials } from './load-credentials.ts';
import { openLoad, type Stage, setStage } from './mixed-load.ts';
import { startReceiver } from './receiver.ts';
import { faultsIn, readStored, statesIn } from './stored.ts';

const maxWrites = 40;

/** Kills the daemon `kills` times under load, and expects no lost and no half-done write. */
export async function killUnderLoad(kills: number): Promise<void> {
  const seed = Number(process.env['IDCTL_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  const ledger = openLedger();
  const stage = await setStage({ ledger, random: seededRandom(seed) });
  onTestFinished(() => stage.close());
  const webhook = await addWebhook(stage);
  let daemon = await stage.site.serve();
  stage.url = daemon.url;
  const load = await openLoad(stage);
  let after = 0;
  const times: number[] = [];
  for (let kill = 1; kill <= kills; kill += 1) {
    const stopLoad = load.start();
    // Only kills in the first half wait for a delivery. After a later kill, the end of the test
    // would wait until the lease expires.
    const inDelivery = kill % 3 === 1 && kill * 2 < kills;
    const moment = await randomMoment(stage, daemon, webhook.arrived, inDelivery);
    process.kill(daemon.pid, 'SIGKILL');
    await Promise.all([stopLoad(), daemon.stop()]);
    daemon = await restart(stage, times);
    after += (await compare(stage)).length;
    expectNoFault(stage, `seed ${seed}, kill ${kill} ${moment}`);
  }
  const { acknowledged, cut } = ledger.counts;
  // The kills must have cut off requests. The number of 503 answers is only printed: on a slow
  // machine a password, a lock or a connection may wait too long.
  expect(cut, `seed ${seed}`).toBeGreaterThan(0);
  times.sort((a, b) => a - b);
  await webhook.expectAllDelivered();
  expect(await daemon.stop()).toBe(0);
  process.stdout.write(
    `${kills} kills, seed ${seed}: ${acknowledged} acknowledged, ${cut} cut, ${after} of them stored; ` +
      `${ledger.unavailable.length} answered 503; ` +
      `ready again after ${times[Math.floor(kills / 2)]} ms, at most ${times.at(-1)} ms\n`,
  );
}

/**
 * Waits for a number of writes, then for a new delivery if `inDelivery`, then a few milliseconds.
 */
async function randomMoment(
  stage: Stage,
  daemon: Daemon,
  arrived: unknown[],
  inDelivery: boolean,
): Promise<string> {
  const { counts, faults } = stage.ledger;
  const writes = 1 + Math.floor(stage.random() * maxWrites);
  const ms = Math.floor(stage.random() * 60);
  const enough = counts.acknowledged + writes;
  while (counts.acknowledged < enough && faults.length === 0) {
    if (daemon.hasEnded()) throw new Error(`the daemon ended by itself:\n${daemon.log()}`);
    await pause(1);
  }
  const before = arrived.length;
  // No delivery arrives while the lease of a killed daemon lasts.
  const latest = Date.now() + (inDelivery ? 1500 : 0);
  while (arrived.length === before && Date.now() < latest) await pause(1);
  await pause(ms);
  return `after ${writes} writes and ${ms} ms`;
}

/** Starts the daemon again, and records how many milliseconds that took. */
async function restart(stage: Stage, times: number[]): Promise<Daemon> {
  const began = performance.now();
  const daemon = await stage.site.serve();
  stage.url = daemon.url;
  times.push(Math.round(performance.now() - began));
  return daemon;
}

/**
 * Compares the ledger with the database, and tries the credentials. Returns the writes of unknown
 * outcome that are stored.
 */
export async function compare(stage: Stage): Promise<string[]> {
  const { site, ledger } = stage;
  const stored = await readStored(site);
  const done = ledger.settle(statesIn(stored));
  ledger.faults.push(...(await faultsIn(site, stored)));
  await tryCredentials(stage);
  return done;
}

/** Expects an empty list of faults, and clears it. */
export function expectNoFault({ ledger }: Stage, what: string): void {
  expect(ledger.faults.splice(0), what).toEqual([]);
}

/** Adds a webhook for the events of members, with a check that every delivery has arrived. */
export async function addWebhook({ site }: Stage) {
  const receiver = await startReceiver();
  const events = ['--events', 'member.*'];
  const added = await site.run(['webhook', 'add', receiver.url, '--org', 'acme', ...events]);
  expect(added.code).toBe(0);
  return {
    arrived: receiver.received,
    async expectAllDelivered() {
      const undelivered = async () =>
        (await site.query("SELECT id FROM webhook_deliveries WHERE status <> 'delivered'")).length;
      // The lease of a killed daemon lasts for twenty seconds.
      await expect.poll(undelivered, { timeout: 600_000, interval: 500 }).toBe(0);
      const queued = await site.query('SELECT id FROM webhook_deliveries');
      const arrived = new Set(receiver.received.map(({ id }) => id));
      expect(queued.length).toBeGreaterThan(0);
      expect(queued.filter(({ id }) => !arrived.has(String(id)))).toEqual([]);
      await receiver.stop();
    },
  };
}
