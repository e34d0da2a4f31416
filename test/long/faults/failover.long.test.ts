import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { counterpartMissing, rootMissing } from '../../support/counterpart.ts';
import { dialect } from '../../support/database.ts';
import {
  cutOffPrimary,
  expectNoLoss,
  fillPrimary,
  freezePrimary,
  killPrimary,
  killStandby,
  loseEtcd,
  switchOver,
} from '../../support/failover.ts';
import { documentedFile } from '../../support/operations.ts';
import { otherNode, startPatroni } from '../../support/patroni.ts';

// Runs the files of docs/operations/high-availability.md, and lets servers fail while two
// daemons write.

const packages = ['etcd-server', 'haproxy', 'patroni', 'pgbouncer', 'postgresql-15'] as const;
const missing = dialect !== 'postgres' || rootMissing() || packages.some(counterpartMissing);

describe.skipIf(missing)('PostgreSQL under Patroni', () => {
  test('lets only idctl in from id1, and only into its own database', async () => {
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
    const { replication, rewind, superuser } = parse(documentedFile('/etc/patroni/config.yml'))
      .postgresql.authentication;
    const own = new URL(patroni.url).password;
    expect(await enter('idctl', own, 'idctl')).toBe('in');
    // 28000: pg_hba.conf has no entry for this login from id1.
    expect(await enter('idctl', own, 'postgres')).toBe('28000');
    expect(await enter(superuser.username, superuser.password, 'idctl')).toBe('28000');
    expect(await enter(rewind.username, rewind.password, 'postgres')).toBe('28000');
    expect(await enter(rewind.username, rewind.password, 'idctl')).toBe('28000');
    expect(await enter(replication.username, replication.password, 'idctl')).toBe('28000');
    expect(await enter(replication.username, replication.password, 'postgres')).toBe('28000');
  }, 180_000);

  test('keeps its data when the files change from etcd3 to etcd', async () => {
    const patroni = await startPatroni({ etcd3: true });
    onTestFinished(() => patroni.stop());
    const leader = await patroni.settled();
    await patroni.query(leader, 'CREATE TABLE kept AS SELECT 1 AS one', 'idctl');
    await patroni.kill(otherNode(leader));
    await patroni.kill(leader);
    patroni.useVersion2();
    patroni.killEtcd(['id1'])();
    patroni.start(leader);
    const isStandby = () =>
      patroni
        .query(leader, 'SELECT pg_is_in_recovery() AS standby')
        .then(([row]) => row?.['standby'])
        .catch(() => undefined);
    await expect.poll(isStandby, { timeout: 120_000 }).toBe(false);
    patroni.start(otherNode(leader));
    expect(await patroni.settled()).toBe(leader);
    expect(await patroni.query(leader, 'SELECT one FROM kept', 'idctl')).toEqual([{ one: 1 }]);
  }, 600_000);

  test('does not lose an acknowledged write over HAProxy in ten kills of the primary, a switchover and a kill of the standby', async () => {
    await expectNoLoss('HAProxy', [
      ...Array.from({ length: 10 }, () => killPrimary),
      switchOver,
      killStandby,
    ]);
  }, 1_500_000);

  test('does not lose an acknowledged write while the host of the primary is frozen for 40 seconds, three times', async () => {
    await expectNoLoss('HAProxy', [freezePrimary, freezePrimary, freezePrimary]);
  }, 1_500_000);

  test('does not lose an acknowledged write while the network of the primary is cut', async () => {
    await expectNoLoss('HAProxy', [cutOffPrimary]);
  }, 600_000);

  test('keeps writing, and loses nothing, while two of three members of etcd are down', async () => {
    await expectNoLoss('HAProxy', [loseEtcd]);
  }, 600_000);

  test('does not lose an acknowledged write while the disk of the primary is full', async () => {
    await expectNoLoss('HAProxy', [fillPrimary], { smallDisk: 400 });
  }, 900_000);

  test('does not lose an acknowledged write over PgBouncer and HAProxy in three kills of the primary', async () => {
    await expectNoLoss('PgBouncer and HAProxy', [killPrimary, killPrimary, killPrimary]);
  }, 600_000);
});
