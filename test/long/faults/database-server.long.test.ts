import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { dialect } from '../../support/database.ts';
import { compare, expectNoFault } from '../../support/kills.ts';
import { openLedger, seededRandom } from '../../support/ledger.ts';
import { openLoad, type Stage, setStage } from '../../support/mixed-load.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';

// A slow machine needs this long. No test depends on speed.
const unhurried = { timeout: 300_000 };
const timeLimit = 900_000;

// The load and ledger are those of the kill tests, but PostgreSQL fails instead of the daemon.

/** Runs a load while the server fails and recovers, and expects that nothing is lost. */
async function failUnderLoad(fail: (server: PostgresServer, stage: Stage) => Promise<void>) {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const ledger = openLedger();
  const stage = await setStage({ ledger, random: seededRandom(1), database: server.url });
  onTestFinished(() => stage.close());
  const daemon = await stage.site.serve();
  stage.url = daemon.url;
  const stopLoad = (await openLoad(stage)).start();
  await moreWrites(stage);
  await fail(server, stage);
  const began = performance.now();
  await expect.poll(() => isReady(stage), unhurried).toBe(true);
  const back = performance.now() - began;
  await moreWrites(stage);
  await stopLoad();
  // The server may still store writes that it has not finished.
  await expect.poll(() => busyConnections(server), unhurried).toBe(0);
  await compare(stage);
  expectNoFault(stage, 'after the failure');
  expect([ledger.unavailable.length > 0, ledger.counts.cut]).toEqual([true, 0]);
  expect(await daemon.stop()).toBe(0);
  const { acknowledged } = ledger.counts;
  process.stdout.write(`${acknowledged} acknowledged; ready again after ${back.toFixed(0)} ms\n`);
}

async function moreWrites({ ledger: { counts } }: Stage): Promise<void> {
  const enough = counts.acknowledged + 30;
  await expect.poll(() => counts.acknowledged, unhurried).toBeGreaterThan(enough);
}

const isReady = async ({ url }: Stage) => (await fetch(`${url}/readyz`)).ok;

const untilRefused = async ({ ledger: { unavailable } }: Stage) => {
  await expect.poll(() => unavailable.length, { ...unhurried, interval: 5 }).toBeGreaterThan(0);
};

async function query(server: PostgresServer, sql: string): Promise<number> {
  const client = new pg.Client(server.url);
  await client.connect();
  const { rowCount } = await client.query(sql);
  await client.end();
  return rowCount ?? 0;
}

const others =
  "FROM pg_stat_activity WHERE application_name LIKE 'idctl%' AND pid <> pg_backend_pid()";
const busyConnections = (server: PostgresServer) =>
  query(server, `SELECT pid ${others} AND state <> 'idle'`);

describe.skipIf(dialect !== 'postgres')('§8 nothing is lost, and answers are 503, when', () => {
  test(
    'PostgreSQL restarts under load without a checkpoint',
    async () => {
      await failUnderLoad((server) => server.restart());
    },
    timeLimit,
  );

  test(
    'PostgreSQL is frozen under load and resumes',
    async () => {
      await failUnderLoad(async (server, stage) => {
        const goOn = await server.freeze();
        await untilRefused(stage).finally(goOn);
      });
    },
    timeLimit,
  );

  test(
    'the connections to PostgreSQL are killed again and again under load',
    async () => {
      await failUnderLoad(async (server, { ledger: { unavailable, counts } }) => {
        // A daemon that has exited cuts requests off and answers none with 503, so stop then.
        while (unavailable.length < 10 && counts.cut === 0) {
          await query(server, `SELECT pg_terminate_backend(pid) ${others}`);
          await pause(50);
        }
      });
    },
    timeLimit,
  );
});
