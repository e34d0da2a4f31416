import { describe, expect, onTestFinished, test } from 'vitest';
import { createToken } from '../../../src/services/people/tokens/operations.ts';
import { rotateScimToken } from '../../../src/services/provisioning/scim/token.ts';
import { counterpartMissing } from '../../support/counterpart.ts';
import { dialect } from '../../support/database.ts';
import { createClient } from '../../support/http.ts';
import { install } from '../../support/installation.ts';
import { keepWriting, type Ledger, type Written } from '../../support/ledger.ts';
import { type Patroni, startPatroni } from '../../support/patroni.ts';

// The files of "High availability" in docs/operations.md, run: the primary dies while two daemons write.

const packages = ['etcd-server', 'haproxy', 'patroni', 'pgbouncer', 'postgresql-15'] as const;
const missing = dialect !== 'postgres' || packages.some(counterpartMissing);

interface Round {
  /** Milliseconds from the kill to the promotion. */
  promotion: number;
  /** Milliseconds from the promotion until every daemon has acknowledged a write. */
  back: number;
  /** Acknowledged writes that began after the kill and ended before the promotion. */
  early: number;
  entries: Written[];
}

describe.skipIf(missing)('PostgreSQL under Patroni', () => {
  test.each([
    { by: 'HAProxy', kills: 10 },
    { by: 'PgBouncer and HAProxy', kills: 3 },
  ])(
    'loses its primary, and over $by no acknowledged write is lost',
    async ({ by, kills }) => {
      const patroni = await startPatroni();
      onTestFinished(() => patroni.stop());
      const database = by === 'HAProxy' ? patroni.url : patroni.pooledUrl;
      const client = { pat: '', scim: '', base: '' };
      const site = await install({
        database,
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
        while (rounds.length < kills) rounds.push(await killPrimary(patroni, ledger));
      } catch (error) {
        throw new Error(await patroni.said(), { cause: error });
      }
      await ledger.stop();
      const stored = await storedIds(patroni);
      const lost = ({ entries }: Round) => entries.filter(({ id }) => id !== '' && !stored.has(id));
      process.stdout.write(tableOf(by, rounds, (round) => lost(round).length));
      expect(rounds.flatMap(lost)).toEqual([]);
      expect(rounds.map(({ early }) => early)).toEqual(rounds.map(() => 0));
      for (const { back } of rounds) expect(back).toBeLessThan(10_000);
      for (const daemon of daemons) {
        expect((await createClient(daemon.url).get('/readyz')).status).toBe(200);
        // They have never ended.
        expect(await daemon.stop()).toBe(0);
      }
    },
    1_500_000,
  );
});

/** Kills the node that is the primary, waits for the other, and brings the first back as the standby. */
async function killPrimary(patroni: Patroni, { entries }: Ledger): Promise<Round> {
  const primary = await patroni.settled();
  const from = entries.length;
  const acknowledged = (after: number) =>
    entries.slice(from).filter(({ id, begun }) => id !== '' && begun > after);
  await expect.poll(() => acknowledged(0).length, { timeout: 60_000 }).toBeGreaterThan(50);
  await patroni.kill(primary);
  const killed = Date.now();
  const promoted = await patroni.promoted(primary === 'db1' ? 'db2' : 'db1');
  const backOf = (daemon: number) =>
    acknowledged(killed).find((entry) => entry.daemon === daemon && entry.ended > promoted)?.ended;
  const back = async () => Math.max(...[0, 1].map((daemon) => backOf(daemon) ?? Infinity));
  await expect.poll(back, { timeout: 60_000 }).toBeLessThan(Infinity);
  patroni.start(primary);
  await patroni.settled();
  return {
    promotion: promoted - killed,
    back: (await back()) - promoted,
    early: acknowledged(killed).filter(({ ended }) => ended < promoted).length,
    entries: entries.slice(from),
  };
}

async function storedIds(patroni: Patroni): Promise<Set<unknown>> {
  const sql = 'SELECT id FROM access_tokens UNION ALL SELECT id FROM scim_records';
  const rows = await patroni.query(await patroni.settled(), sql, 'idctl');
  return new Set(rows.map(({ id }) => id));
}

function tableOf(by: string, rounds: Round[], lost: (round: Round) => number): string {
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  const rows = rounds.map((round, at) => {
    const { promotion, back, entries } = round;
    const acknowledged = entries.filter(({ id }) => id !== '').length;
    const failed = entries.filter(({ status }) => status >= 500).length;
    return [at + 1, seconds(promotion), seconds(back), acknowledged, lost(round), failed];
  });
  const head = ['kill', 'promotion s', 'back s', 'acknowledged', 'lost', '5xx'];
  const lines = [head, ...rows].map((row) => row.map((cell) => String(cell).padStart(13)).join(''));
  return `\nThe primary is killed; idctl over ${by}\n${lines.join('\n')}\n`;
}
