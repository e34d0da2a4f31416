import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import type { Daemon } from './daemon.ts';
import type { Node } from './hosts.ts';
import { createClient } from './http.ts';
import { install } from './installation.ts';
import { keepWriting, type Writing, type Written } from './keep-writing.ts';
import { otherNode, type Patroni, type PatroniOptions, startPatroni } from './patroni.ts';

// Lets servers of a cluster fail while two daemons write, and looks for every acknowledged write.

/** One fault, with its times in milliseconds. */
interface Round {
  what: string;
  /** The time from the fault to the promotion. */
  promotion: number;
  /** The time from the promotion until every daemon has acknowledged a write. */
  back: number;
  entries: Written[];
}

/** A fault that ends before the returned promise resolves. */
export type Fault = (patroni: Patroni, load: Load) => Promise<Round>;

/** The daemons, and the writes that go through them. */
interface Load {
  daemons: Daemon[];
  ledger: Writing;
}

/** Lets these faults happen one after the other, and expects that no acknowledged write is lost. */
export async function expectNoLoss(
  by: 'HAProxy' | 'PgBouncer and HAProxy',
  faults: Fault[],
  options: PatroniOptions = {},
): Promise<void> {
  const patroni = await startPatroni(options);
  onTestFinished(() => patroni.stop());
  const client = { pat: '', scim: '', base: '' };
  const site = await install({
    database: by === 'HAProxy' ? patroni.url : patroni.pooledUrl,
    env: { IDCTL_TOKENS_MANAGE_CREDENTIALS: 'on', IDCTL_LOG_LEVEL: 'warn' },
    prepare: async (operator) => {
      const user = 'olga@acme.test';
      client.pat = (await createToken(operator(), { user, name: 'load' })).token;
      const { token, baseUrl } = await rotateScimToken(operator(), { org: 'acme' });
      Object.assign(client, { scim: token, base: baseUrl });
    },
  });
  onTestFinished(() => site.close());
  const daemons = await Promise.all([site.serve(), site.serve()]);
  const ledger = keepWriting(daemons, client);
  onTestFinished(() => ledger.stop());
  const rounds: Round[] = [];
  try {
    for (const fault of faults) rounds.push(await fault(patroni, { daemons, ledger }));
  } catch (error) {
    throw new Error(await patroni.said(), { cause: error });
  }
  await ledger.stop();
  const stored = await storedIds(patroni);
  const lost = ({ entries }: Round) => entries.filter(({ id }) => id !== '' && !stored.has(id));
  process.stdout.write(tableOf(by, rounds, (round) => lost(round).length));
  expect(rounds.flatMap(lost)).toEqual([]);
  expect(rounds.filter(({ back }) => back > 10_000)).toEqual([]);
  for (const daemon of daemons) {
    expect((await createClient(daemon.url).get('/readyz')).status).toBe(200);
    // The daemon has run until now.
    expect(await daemon.stop()).toBe(0);
  }
}

/** Kills the primary, and starts it again once the other node is the primary. */
export const killPrimary = failPrimary('kill', async (patroni, primary) => {
  await patroni.kill(primary);
  return () => patroni.start(primary);
});

/** Freezes every process of the primary's host for 40 seconds, with the leader of etcd. */
export const freezePrimary = failPrimary('freeze', async (patroni, primary) => {
  await patroni.leadEtcd(primary);
  const resume = await patroni.freeze(primary);
  return lasting40Seconds(resume);
});

/** Cuts the primary's host off from the network for 40 seconds, with the leader of etcd. */
export const cutOffPrimary = failPrimary('cut network', async (patroni, primary) => {
  await patroni.leadEtcd(primary);
  return lasting40Seconds(patroni.cutOff(primary));
});

function lasting40Seconds(end: () => void): () => Promise<void> {
  const begun = Date.now();
  return async () => {
    await pause(begun + 40_000 - Date.now());
    end();
  };
}

/** A fault of the primary. It ends once the other node is the primary. */
function failPrimary(
  what: string,
  fail: (patroni: Patroni, primary: Node, load: Load) => Promise<() => void | Promise<void>>,
): Fault {
  return async (patroni, load) => {
    const { ledger } = load;
    const { entries, primary } = await begin(patroni, ledger);
    const end = await fail(patroni, primary, load);
    const failed = Date.now();
    const promoted = await patroni.promoted(otherNode(primary));
    const back = await backAfter(promoted, ledger);
    // Until the promotion, only the standby ran, so no write can be acknowledged.
    const early = acknowledged(ledger, failed).filter(({ ended }) => ended < promoted);
    expect(early).toEqual([]);
    await end();
    await patroni.settled();
    return { what, promotion: promoted - failed, back, entries: entries() };
  };
}

/** Fills the disk of the primary, first for tables and then for the log of its writes. */
export const fillPrimary = failPrimary('full disk', async (patroni, primary, { daemons }) => {
  if (patroni.disk === null || primary !== 'db1') throw new Error('the small disk is not in use');
  const { fill, empty } = patroni.disk;
  fill();
  const ready = async () => {
    const answers = daemons.map(({ url }) => createClient(url).get('/readyz'));
    return (await Promise.all(answers)).map(({ status, body }) => [status, body.writable]);
  };
  await expect.poll(ready, { timeout: 120_000 }).toEqual(daemons.map(() => [200, false]));
  // This needs a new file, without which PostgreSQL ends. It then closes this connection.
  await patroni.query(primary, 'SELECT pg_switch_wal()').catch(() => {});
  return empty;
});

/** Switches the primary and the standby. */
export const switchOver: Fault = async (patroni, { ledger }) => {
  const { entries, primary } = await begin(patroni, ledger);
  const asked = Date.now();
  await patroni.switchOver(primary);
  const promoted = await patroni.promoted(otherNode(primary));
  const back = await backAfter(promoted, ledger);
  await patroni.settled();
  return { what: 'switchover', promotion: promoted - asked, back, entries: entries() };
};

/** Kills the standby. No server is promoted; `back` is how long writes wait for the standby. */
export const killStandby: Fault = async (patroni, { ledger }) => {
  const { entries, primary } = await begin(patroni, ledger);
  await patroni.kill(otherNode(primary));
  const back = await backAfter(Date.now(), ledger);
  patroni.start(otherNode(primary));
  await patroni.settled();
  return { what: 'standby', promotion: 0, back, entries: entries() };
};

/** Kills two of three members of etcd for 40 seconds. The primary stays, and writes go on. */
export const loseEtcd: Fault = async (patroni, { ledger }) => {
  const { entries, primary } = await begin(patroni, ledger);
  const restart = patroni.killEtcd([otherNode(primary), 'id1']);
  const killed = Date.now();
  // Without etcd, the lock of the primary ends after 20 seconds.
  await pause(40_000);
  const back = await backAfter(Date.now(), ledger);
  expect(entries().filter(({ begun, status }) => begun > killed && status >= 500)).toEqual([]);
  restart();
  expect(await patroni.settled()).toBe(primary);
  return { what: 'etcd', promotion: 0, back, entries: entries() };
};

async function begin(patroni: Patroni, ledger: Writing) {
  const primary = await patroni.settled();
  const [from, now] = [ledger.entries.length, Date.now()];
  const count = () => acknowledged(ledger, now).length;
  await expect.poll(count, { timeout: 60_000 }).toBeGreaterThan(50);
  return { primary, entries: () => ledger.entries.slice(from) };
}

/** The acknowledged writes that began after this time. */
function acknowledged({ entries }: Writing, after: number): Written[] {
  return entries.filter(({ id, begun }) => id !== '' && begun > after);
}

/** The milliseconds from this time until every daemon has acknowledged a write that began later. */
async function backAfter(time: number, ledger: Writing): Promise<number> {
  const firstOf = (daemon: number) =>
    acknowledged(ledger, time).find((entry) => entry.daemon === daemon)?.ended;
  const last = async () => Math.max(...[0, 1].map((daemon) => firstOf(daemon) ?? Infinity));
  await expect.poll(last, { timeout: 60_000 }).toBeLessThan(Infinity);
  return (await last()) - time;
}

async function storedIds(patroni: Patroni): Promise<Set<unknown>> {
  const sql = 'SELECT id FROM access_tokens UNION ALL SELECT id FROM scim_records';
  const rows = await patroni.query(await patroni.settled(), sql, 'idctl');
  return new Set(rows.map(({ id }) => id));
}

function tableOf(by: string, rounds: Round[], lost: (round: Round) => number): string {
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  const rows = rounds.map((round, at) => {
    const { what, promotion, back, entries } = round;
    const acknowledged = entries.filter(({ id }) => id !== '').length;
    const failed = entries.filter(({ status }) => status >= 500).length;
    const times = [seconds(promotion), seconds(back)];
    return [`${what} ${at + 1}`, ...times, acknowledged, lost(round), failed];
  });
  const head = ['fault', 'promotion s', 'back s', 'acknowledged', 'lost', '5xx'];
  const lines = [head, ...rows].map((row) => row.map((cell) => String(cell).padStart(14)).join(''));
  return `\nServers fail; idctl over ${by}\n${lines.join('\n')}\n`;
}
