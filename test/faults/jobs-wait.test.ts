import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { dialect } from '../support/database.ts';
import { createClient } from '../support/http.ts';
import { install } from '../support/installation.ts';
import { answering, startReceiver } from '../support/receiver.ts';

const lockedFor = 30_000;
// A slow machine needs this long. No test depends on speed.
const unhurried = { timeout: 240_000 };

/** The statements of the job `webhooks` that wait for the lock. */
const waitingRuns = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FROM webhooks w%'`;

/** Locks out every write of others; on PostgreSQL, their reads too. */
async function lock(database: string): Promise<() => Promise<void>> {
  if (dialect === 'sqlite') {
    const file = new DatabaseSync(database.slice('sqlite:'.length), { timeout: 60_000 });
    file.exec('BEGIN IMMEDIATE');
    return async () => file.close();
  }
  const client = new pg.Client(database);
  await client.connect();
  await client.query(
    'BEGIN; LOCK TABLE webhooks, access_tokens, outbox, key_canaries IN ACCESS EXCLUSIVE MODE',
  );
  return () => client.end();
}

test('while jobs wait for a busy database, the log has one line when it begins and one when it ends, and no run starts beside a waiting run', {
  timeout: 600_000,
}, async () => {
  let token = '';
  const receiver = await startReceiver();
  onTestFinished(() => receiver.stop());
  const site = await install({
    env: { IDCTL_OUTBOUND_ALLOW: '127.0.0.1', IDCTL_LOG_LEVEL: 'info' },
    prepare: async (operator) => {
      ({ token } = await createToken(operator(), { user: 'olga@acme.test', name: 'ci' }));
    },
  });
  onTestFinished(() => site.close());
  const events = ['--events', 'member.*'];
  const added = await site.run(['webhook', 'add', receiver.url, '--org', 'acme', ...events]);
  expect(added.code).toBe(0);
  const daemon = await site.serve();
  // Work for two jobs that write: the use of a token, and a delivery that is tried again.
  receiver.behave(answering(503));
  const person = ['ben@acme.test', '--name', 'Ben'];
  expect((await site.run(['user', 'create', ...person])).code).toBe(0);
  expect(
    (await site.run(['member', 'add', 'ben@acme.test', '--org', 'acme', '--role', 'member'])).code,
  ).toBe(0);
  const tried = () => site.query('SELECT id FROM webhook_deliveries WHERE attempts > 0');
  await expect.poll(async () => (await tried()).length, unhurried).toBe(1);

  const unlock = await lock(site.database);
  let locked = true;
  onTestFinished(async () => {
    if (locked) await unlock();
  });
  void createClient(daemon.url).get('/api/v1/me', { authorization: `Bearer ${token}` });
  const waiting: number[] = [];
  for (let passed = 0; passed < lockedFor; passed += 1000) {
    if (dialect === 'postgres') waiting.push((await site.query(waitingRuns)).length);
    await pause(1000);
  }
  await unlock();
  locked = false;
  const lines = () =>
    daemon
      .log()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  await expect.poll(() => daemon.log(), unhurried).toContain('the database can be used again');
  expect(Math.max(0, ...waiting)).toBeLessThanOrEqual(1);
  const told = lines().filter(({ level, msg }) => level === 'error' || /^the database/.test(msg));
  expect(told.map(({ msg, code }) => [msg, code])).toEqual([
    ['the database cannot be used', 'database_busy'],
    ['the database can be used again', undefined],
  ]);
  expect(daemon.log()).not.toContain('"stack"');
  expect(await daemon.stop()).toBe(0);
});
