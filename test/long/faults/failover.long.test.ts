import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { createToken } from '../../../src/services/people/tokens/operations.ts';
import { rotateScimToken } from '../../../src/services/provisioning/scim/token.ts';
import { counterpartMissing } from '../../support/counterpart.ts';
import { dialect } from '../../support/database.ts';
import { createClient } from '../../support/http.ts';
import { install } from '../../support/installation.ts';
import { keepWriting, type Writing, type Written } from '../../support/keep-writing.ts';
import { documentedFile } from '../../support/operations.ts';
import { otherNode, type Patroni, startPatroni } from '../../support/patroni.ts';

// Runs the files of "High availability" in docs/operations.md, and kills servers while two
// daemons write.

const packages = ['etcd-server', 'haproxy', 'patroni', 'pgbouncer', 'postgresql-15'] as const;
const missing = dialect !== 'postgres' || packages.some(counterpartMissing);

/** One fault, with its times in milliseconds. */
interface Round {
  what: string;
  /** The time from the fault to the promotion. */
  promotion: number;
  /** The time from the promotion until every daemon has acknowledged a write. */
  back: number;
  entries: Written[];
}

describe.skipIf(missing)('PostgreSQL under Patroni', () => {
  test('allows each role only its own database', async () => {
    const patroni = await startPatroni();
    onTestFinished(() => patroni.stop());
    const enter = async (role: string, password: string, database: string) => {
      const url = new URL(patroni.url);
      Object.assign(url, { username: role, password, pathname: `/${database}` });
      const client = new pg.Client(url.href);
      const entering = client.connect().then(
        () => 'in',
        ({ code }) => code,
      );
      return entering.finally(() => client.end());
    };
    const { replication, rewind } = parse(documentedFile('/etc/patroni/config.yml')).postgresql
      .authentication;
    const own = new URL(patroni.url).password;
    expect(await enter('idctl', own, 'idctl')).toBe('in');
    expect(await enter(rewind.username, rewind.password, 'postgres')).toBe('in');
    // 28000: pg_hba.conf has no entry for this login.
    expect(await enter('idctl', own, 'postgres')).toBe('28000');
    expect(await enter(rewind.username, rewind.password, 'idctl')).toBe('28000');
    expect(await enter(replication.username, replication.password, 'idctl')).toBe('28000');
    expect(await enter(replication.username, replication.password, 'postgres')).toBe('28000');
  }, 180_000);

  test('loses no acknowledged write over HAProxy in ten kills of the primary, a switchover and a kill of the standby', async () => {
    await expectNoLoss('HAProxy', [
      ...Array.from({ length: 10 }, () => killPrimary),
      switchOver,
      killStandby,
    ]);
  }, 1_500_000);

  test('loses no acknowledged write over PgBouncer and HAProxy in three kills of the primary', async () => {
    await expectNoLoss('PgBouncer and HAProxy', [killPrimary, killPrimary, killPrimary]);
  }, 600_000);
});

type Fault = (patroni: Patroni, ledger: Writing) => Promise<Round>;

async function expectNoLoss(by: 'HAProxy' | 'PgBouncer and HAProxy', faults: Fault[]) {
  const patroni = await startPatroni();
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
    for (const fault of faults) rounds.push(await fault(patroni, ledger));
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
const killPrimary: Fault = async (patroni, ledger) => {
  const { entries, primary } = await begin(patroni, ledger);
  await patroni.kill(primary);
  const killed = Date.now();
  const promoted = await patroni.promoted(otherNode(primary));
  const back = await backAfter(promoted, ledger);
  // Until the promotion, only the standby ran, so no write can be acknowledged.
  const early = acknowledged(ledger, killed).filter(({ ended }) => ended < promoted);
  expect(early).toEqual([]);
  patroni.start(primary);
  await patroni.settled();
  return { what: 'kill', promotion: promoted - killed, back, entries: entries() };
};

const switchOver: Fault = async (patroni, ledger) => {
  const { entries, primary } = await begin(patroni, ledger);
  const asked = Date.now();
  await patroni.switchOver(primary);
  const promoted = await patroni.promoted(otherNode(primary));
  const back = await backAfter(promoted, ledger);
  await patroni.settled();
  return { what: 'switchover', promotion: promoted - asked, back, entries: entries() };
};

/** Kills the standby. No server is promoted; `back` is how long writes wait for the standby. */
const killStandby: Fault = async (patroni, ledger) => {
  const { entries, primary } = await begin(patroni, ledger);
  await patroni.kill(otherNode(primary));
  const back = await backAfter(Date.now(), ledger);
  patroni.start(otherNode(primary));
  await patroni.settled();
  return { what: 'standby', promotion: 0, back, entries: entries() };
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
