import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Daemon } from '../support/daemon.ts';
import { createClient } from '../support/http.ts';
import { type Installation, install } from '../support/installation.ts';
import { answering, isSignedBy, type Receiver, startReceiver } from '../support/receiver.ts';

// These tests run real daemons. Two daemons deliver each event once. If a daemon is killed, the
// next one delivers its events.

let site: Installation;
let at: Receiver;
let daemon: Daemon;
let secret: string;
beforeAll(async () => {
  at = await startReceiver();
  site = await install({ env: { IDCTL_OUTBOUND_ALLOW: '127.0.0.1' } });
  const events = ['--events', 'scim.user.*,domain.*'];
  const { out } = await site.run(['webhook', 'add', at.url, '--org', 'acme', ...events, '--json']);
  ({ secret } = JSON.parse(out));
  daemon = await site.serve();
}, 120_000);
afterAll(async () => {
  await site?.close();
  await at?.stop();
});
beforeEach(async () => {
  at.behave(answering(204));
  await allDelivered();
  at.received.length = 0;
});

/** Waits until a daemon has recorded the delivery of every message. */
const allDelivered = () =>
  expect
    .poll(() => site.query("SELECT id FROM webhook_deliveries WHERE status = 'waiting'"), {
      timeout: 40_000,
    })
    .toEqual([]);

const arrived = () => at.received.map(({ message }) => message.data.subject.name);

async function owner(of: Daemon) {
  const client = createClient(of.url, { keepCookies: true });
  expect((await client.post('/api/v1/auth/login', site.owner)).status).toBe(200);
  const headers = { authorization: `Bearer ${client.jar.get('access_token')}` };
  return createClient(of.url, { headers });
}

test('§4.3 §3.2 the two SCIM events arrive, signed, when a client provisions and deactivates a person', async () => {
  const { out } = await site.run(['scim', 'token', 'rotate', '--org', 'acme', '--quiet']);
  const shown = await site.run(['org', 'show', 'acme', '--json']);
  const base = `/scim/v2/orgs/${JSON.parse(shown.out).id}/Users`;
  const client = createClient(daemon.url, { headers: { authorization: `Bearer ${out.trim()}` } });
  const made = await client.post(base, {
    userName: 'ada@acme.test',
    name: { formatted: 'Ada Byron' },
  });
  expect(made.status).toBe(201);
  expect((await client.send('DELETE', `${base}/${made.body.id}`)).status).toBe(204);
  await expect.poll(() => at.received.length).toBe(2);
  expect(at.received.map((one) => isSignedBy(secret, one))).toEqual([true, true]);
  expect(at.received.map(({ message }) => message)).toMatchObject([
    {
      type: 'scim.user.provisioned',
      timestamp: expect.any(String),
      data: {
        kind: 'scim.user.provisioned',
        actor: { kind: 'scim' },
        subject: { type: 'user', name: 'Ada Byron' },
        data: { role: 'member', record: made.body.id, userName: 'ada@acme.test' },
      },
    },
    {
      type: 'scim.user.deactivated',
      data: { subject: { type: 'user', name: 'Ada Byron' }, data: { record: made.body.id } },
    },
  ]);
});

test('X7 the daemon delivers the events of a command that runs beside it', async () => {
  expect(await site.run(['domain', 'add', 'shell.test', '--org', 'acme'])).toMatchObject({
    code: 0,
  });
  await expect.poll(arrived).toEqual(['shell.test']);
});

test('X7 §8 if a daemon is killed between the answer and the delivery, the next one delivers with the same id', async () => {
  at.behave(() => undefined);
  const { status } = await (await owner(daemon)).post('/api/v1/orgs/acme/domains', {
    domain: 'killed.test',
  });
  expect(status).toBe(201);
  process.kill(daemon.pid, 'SIGKILL');
  await daemon.stop();
  at.behave(answering(204));
  daemon = await site.serve();
  // If the killed daemon had begun to deliver, the next one waits for the end of its lease.
  await allDelivered();
  expect(at.received.length).toBeGreaterThan(0);
  expect(new Set(at.received.map(({ id }) => id)).size).toBe(1);
  expect(new Set(arrived())).toEqual(new Set(['killed.test']));
}, 60_000);

test('X7 §8 with two daemons on one database, each event is delivered once, in order', async () => {
  const other = await site.serve();
  at.behave(async (response) => {
    await pause(20);
    response.writeHead(204).end();
  });
  const clients = [await owner(daemon), await owner(other)];
  const names = Array.from({ length: 30 }, (_, n) => `d${n}.test`);
  for (const [n, domain] of names.entries()) {
    const made = await clients[n % 2]?.post('/api/v1/orgs/acme/domains', { domain });
    expect(made?.status).toBe(201);
    if (n % 10 === 9) await pause(700);
  }
  await expect.poll(() => at.received.length).toBeGreaterThanOrEqual(30);
  await pause(2500);
  expect(arrived()).toEqual(names);
  await other.stop();
}, 60_000);

test('a daemon that is told to stop while a receiver hangs exits within nine seconds, and the next one delivers', async () => {
  at.behave(() => undefined);
  await (await owner(daemon)).post('/api/v1/orgs/acme/domains', { domain: 'stopped.test' });
  await expect.poll(() => at.received.length).toBe(1);
  const began = performance.now();
  expect(await daemon.stop()).toBe(0);
  expect(performance.now() - began).toBeLessThan(9000);
  at.behave(answering(204));
  daemon = await site.serve();
  await expect.poll(() => at.received.length).toBe(2);
  expect(new Set(at.received.map(({ id }) => id)).size).toBe(1);
}, 60_000);
