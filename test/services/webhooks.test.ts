import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Event } from '../../src/database/models/event.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { Webhook } from '../../src/database/models/webhook.ts';
import { WebhookDelivery } from '../../src/database/models/webhook-delivery.ts';
import { rehearse, transaction } from '../../src/database/transaction.ts';
import { checkStored } from '../../src/services/instance/doctor/stored.ts';
import { countBacklog } from '../../src/services/instance/upkeep.ts';
import { addDomain, removeDomain } from '../../src/services/tenancy/domains/operations.ts';
import { deliverWebhooks } from '../../src/services/tenancy/webhooks/delivery/deliver.ts';
import {
  listDeliveries,
  retryDelivery,
} from '../../src/services/tenancy/webhooks/delivery/operations.ts';
import {
  addWebhook,
  changeWebhook,
  listWebhooks,
} from '../../src/services/tenancy/webhooks/operations.ts';
import { fresh, organization, signedIn } from '../support/builders.ts';
import { hintLike } from '../support/hints.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { answering, isSignedBy, type Receiver, startReceiver } from '../support/receiver.ts';
import { sweepNow } from '../support/sweep.ts';

let idctl: Idctl;
let at: Receiver;
let owner: Client;
let slug: string;
let path: string;
beforeEach(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
  at = await startReceiver();
  const org = await organization(idctl);
  slug = org.slug;
  owner = await signedIn(idctl, org.owner.email);
  path = `/api/v1/orgs/${slug}/webhooks`;
});
afterEach(async () => {
  await at.stop();
  await idctl.close();
});

const turn = () => ({
  stop: new AbortController().signal,
  anew: () => idctl.as({ kind: 'system', name: 'webhooks' }),
});
const deliver = () => deliverWebhooks(turn().anew(), turn());
const happen = async (domain = `${fresh('d')}.test`) =>
  (await addDomain(idctl.operator(), { org: slug, domain })).domain;
const add = async (events = ['domain.added'], url = at.url) => {
  const { status, body } = await owner.post(path, { url, events });
  expect([status, body]).toEqual([201, body]);
  return body;
};
// Lists as the operator, because the owner's session expires when a test moves the clock.
const deliveries = async (id: string, status?: 'dead') =>
  (await listDeliveries(idctl.operator(), { org: slug, id, limit: 50, status })).items;
const webhook = async () =>
  (await listWebhooks(idctl.operator(), { org: slug, limit: 50 })).items[0];
const change = (id: string, enabled: boolean) =>
  changeWebhook(idctl.operator(), { org: slug, id, enabled });
const set = (column: string, value: unknown) =>
  transaction(async () => {
    await Webhook.sequelize?.query(`UPDATE webhooks SET ${column} = $1`, { bind: [value] });
  });
const domains = () => at.received.map(({ message }) => message.data.subject.name);

describe('interface page: webhooks', () => {
  test('X7 an event arrives signed and as the event list shows it, and its delivery is listed', async () => {
    const { secret, ...made } = await add();
    expect(made).toEqual({
      id: expect.any(String),
      url: at.url,
      events: ['domain.added'],
      enabled: true,
      failingSince: null,
      createdAt: expect.any(String),
    });
    expect((await owner.get(path)).body.items).toEqual([made]);
    await happen('acme.test');
    await deliver();
    const [one, ...more] = at.received;
    if (one === undefined) throw new Error('nothing arrived');
    expect(more).toEqual([]);
    const { body } = await owner.get(`/api/v1/orgs/${slug}/events?kind=domain.added`);
    const [event] = body.items;
    expect(one.message).toEqual({ type: 'domain.added', timestamp: event.at, data: event });
    expect(isSignedBy(secret, one)).toBe(true);
    expect(isSignedBy(secret, { ...one, body: one.body.replace('acme', 'evil') })).toBe(false);
    expect(await deliveries(made.id)).toEqual([
      {
        id: one.id,
        event: 'domain.added',
        at: event.at,
        attempts: 1,
        status: 'delivered',
        nextAt: null,
        responseStatus: 204,
        error: null,
      },
    ]);
    await deliver();
    expect(at.received).toHaveLength(1);
  });

  test('only events of the chosen kinds are sent (by name, by group, or all), and none of other organizations', async () => {
    const all = (await owner.post(path, { url: at.url })).body;
    const group = await add(['domain.*']);
    const other = await add(['sso.saved', 'member.*']);
    expect(all.events).toEqual(['*']);
    await addDomain(idctl.operator(), {
      org: (await organization(idctl)).slug,
      domain: `${fresh('d')}.test`,
    });
    const name = await happen();
    await deliver();
    const kinds = async ({ id }: { id: string }) =>
      (await deliveries(id)).map(({ event }) => event);
    expect(await kinds(all)).toEqual([
      'domain.added',
      'webhook.added',
      'webhook.added',
      'webhook.added',
    ]);
    expect(await kinds(group)).toEqual(['domain.added']);
    expect(await kinds(other)).toEqual([]);
    expect(domains().filter((each) => each === name)).toHaveLength(2);
  });

  test('X7 an unknown kind, credentials in the URL and a private address are refused', async () => {
    const wrong = async (body: object) => {
      const answer = await owner.post(path, { url: at.url, ...body });
      return [answer.status, answer.body.code];
    };
    expect(await wrong({ events: ['domain.verifed'] })).toEqual([400, 'invalid_input']);
    expect(await wrong({ events: ['nothing.*'] })).toEqual([400, 'invalid_input']);
    expect(await wrong({ events: [] })).toEqual([400, 'invalid_input']);
    for (const url of ['ftp://a.test/', 'https://me:secret@a.test/', 'hooks'])
      expect(await wrong({ url })).toEqual([400, 'invalid_input']);
    for (const url of ['https://10.0.0.1/', 'http://8.8.8.8/']) {
      const answer = await owner.post(path, { url });
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_input']);
      expect(answer.body.errors).toMatchObject([{ path: 'url' }]);
      expect(answer.body.hint).toContain('outbound.allow');
    }
    expect(await Webhook.count()).toBe(0);
  });

  test('X7 a change that is rolled back is not sent', async () => {
    await add();
    await rehearse(() => happen());
    await deliver();
    expect(at.received).toEqual([]);
  });

  test('X7 a new secret signs at once, and the old secret for one more day', async () => {
    const { id, secret } = await add();
    const { status, body } = await owner.post(`${path}/${id}/rotate`);
    expect(status).toBe(200);
    await happen();
    await deliver();
    idctl.wait(86_401);
    await happen();
    await deliver();
    const by = (each: string) => at.received.map((one) => isSigned(each, one));
    expect([by(body.secret), by(secret)]).toEqual([
      [true, true],
      [true, false],
    ]);
  });

  test('a test message is sent at once, even to a disabled webhook, and is not listed as a delivery', async () => {
    const { id, secret } = await add();
    await owner.send('PATCH', `${path}/${id}`, { body: { enabled: false } });
    expect((await owner.post(`${path}/${id}/test`)).body).toEqual({
      ok: true,
      message: 'The webhook accepted the message and answered 204.',
      responseStatus: 204,
    });
    expect(at.received[0]?.message.type).toBe('webhook.test');
    expect(at.received.map((one) => isSignedBy(secret, one))).toEqual([true]);
    at.behave(answering(500));
    expect((await owner.post(`${path}/${id}/test`)).body).toMatchObject({
      ok: false,
      responseStatus: 500,
    });
    expect(await deliveries(id)).toEqual([]);
  });

  test('nothing is queued for a disabled webhook; messages that were waiting are sent when it is enabled', async () => {
    const { id } = await add();
    const before = await happen();
    await owner.send('PATCH', `${path}/${id}`, { body: { enabled: false } });
    await happen();
    await deliver();
    expect(at.received).toEqual([]);
    await owner.send('PATCH', `${path}/${id}`, { body: { enabled: true } });
    await deliver();
    expect(domains()).toEqual([before]);
  });

  test('O7 another organization’s webhook and its deliveries are not found', async () => {
    const { id } = await add();
    await happen();
    const [delivery] = await deliveries(id);
    const rival = await organization(idctl);
    const other = await signedIn(idctl, rival.owner.email);
    const theirs = (await other.post(`/api/v1/orgs/${rival.slug}/webhooks`, { url: at.url })).body
      .id;
    const base = `/api/v1/orgs/${rival.slug}/webhooks`;
    const asked = [
      other.send('PATCH', `${base}/${id}`, { body: { enabled: false } }),
      other.send('DELETE', `${base}/${id}`),
      other.post(`${base}/${id}/rotate`),
      other.post(`${base}/${id}/test`),
      other.get(`${base}/${id}/deliveries`),
      other.post(`${base}/${theirs}/deliveries/${delivery?.id}/retry`),
    ];
    for (const { status } of await Promise.all(asked)) expect(status).toBe(404);
    expect(await webhook()).toMatchObject({ id, enabled: true });
  });

  test('a removed webhook gets no more messages', async () => {
    const { id } = await add();
    await happen();
    expect((await owner.send('DELETE', `${path}/${id}`)).status).toBe(204);
    await deliver();
    expect([at.received, await WebhookDelivery.count()]).toEqual([[], 0]);
  });
});

// The package compares the time with the machine's clock; a test moves only the instance's clock.
function isSigned(secret: string, one: Parameters<typeof isSignedBy>[1]): boolean {
  const now = Math.floor(Date.now() / 1000);
  const lead = Number(one.headers['webhook-timestamp']) - now;
  const real = Date.now;
  onTestFinished(() => {
    Date.now = real;
  });
  Date.now = () => real() + lead * 1000;
  try {
    return isSignedBy(secret, one);
  } finally {
    Date.now = real;
  }
}

describe('X7 a receiver that fails', () => {
  const minutes = [5 / 60, 5, 30, 120, 300, 600, 840, 1200, 1440];

  test('X7 is tried again after 5 s, 5 min and so on to 24 h; then the delivery is kept as dead, and can be sent again', async () => {
    const { id } = await add();
    // The clock stands still, so that a slow machine does not reach the next attempt too early.
    idctl.stopClock();
    at.behave(answering(500));
    await happen();
    await deliver();
    for (const [tries, delay] of minutes.entries()) {
      const [delivery] = await deliveries(id);
      expect(delivery).toMatchObject({
        status: 'waiting',
        attempts: tries + 1,
        responseStatus: 500,
      });
      idctl.wait(delay * 60 - 1);
      await deliver();
      expect(at.received).toHaveLength(tries + 1);
      // Jitter delays an attempt by at most a tenth.
      idctl.wait(delay * 6 + 1);
      await deliver();
      expect(at.received).toHaveLength(tries + 2);
    }
    const [dead] = await deliveries(id);
    expect(dead).toMatchObject({
      status: 'dead',
      attempts: 10,
      nextAt: null,
      error: 'The webhook answered 500.',
    });
    expect(new Set(at.received.map((one) => `${one.id} ${one.body}`)).size).toBe(1);
    // The webhook accepted nothing for more than three days.
    expect(await webhook()).toMatchObject({ enabled: false });
    expect(await Event.findOne({ where: { kind: 'webhook.disabled' } })).toMatchObject({
      data: { reason: 'failing' },
      actor: { kind: 'system' },
    });
    expect(await deliveries(id, 'dead')).toEqual([dead]);
    const retry = () =>
      retryDelivery(idctl.operator(), { org: slug, id, delivery: dead?.id ?? '' });
    await expect(retry()).rejects.toMatchObject({ code: 'conflict' });
    await change(id, true);
    at.behave(answering(200));
    expect(await retry()).toMatchObject({ status: 'waiting', attempts: 0 });
    await deliver();
    expect((await deliveries(id))[0]).toMatchObject({
      status: 'delivered',
      attempts: 1,
      responseStatus: 200,
    });
  });

  test('X7 with one message gets the other messages without delay and in order', async () => {
    const { id } = await add();
    const names = [await happen(), await happen(), await happen()];
    at.behave((response, { message }) => {
      response.writeHead(message.data.subject.name === names[0] ? 500 : 204).end();
    });
    await deliver();
    expect(domains()).toEqual(names);
    at.behave(answering(204));
    idctl.wait(6);
    await deliver();
    expect(domains()).toEqual([...names, names[0]]);
    expect((await webhook())?.failingSince).toBeNull();
    expect(await deliveries(id)).toHaveLength(3);
  });

  test.each([
    ['refuses connections', () => at.stop(), 'refused the connection'],
    ['redirects', () => at.behave(answering(302, { location: '/elsewhere' })), '302'],
    ['is unreachable for its proxy', () => at.behave(answering(502)), '502'],
    ['answers 429', () => at.behave(answering(429)), '429'],
    ['hangs up', () => at.behave((response) => response.destroy()), 'could not be reached'],
  ])('X7 because it %s gets all messages later, in order', async (_what, fail, said) => {
    const { id } = await add();
    await fail();
    const names = [await happen(), await happen()];
    await deliver();
    await deliver();
    const [second, first] = await deliveries(id);
    expect(first).toMatchObject({
      attempts: 1,
      status: 'waiting',
      error: expect.stringContaining(said),
    });
    expect(second).toMatchObject({ attempts: 0, status: 'waiting' });
    expect(at.received.length).toBeLessThan(2);
    const again = await startReceiver(Number(new URL(at.url).port)).catch(() => at);
    again.behave(answering(204));
    again.received.length = 0;
    idctl.wait(6);
    await deliver();
    expect(again.received.map(({ message }) => message.data.subject.name)).toEqual(names);
    await again.stop();
  });

  test('X7 with 410 is disabled, with an event', async () => {
    const { id } = await add();
    at.behave(answering(410));
    await happen();
    await happen();
    await deliver();
    expect(at.received).toHaveLength(1);
    expect(await webhook()).toMatchObject({ enabled: false });
    expect(await deliveries(id)).toMatchObject([
      { status: 'waiting' },
      { status: 'dead', responseStatus: 410 },
    ]);
    const [event] = await Event.findAll({ where: { kind: 'webhook.disabled' } });
    expect(event).toMatchObject({ subject: { id }, data: { reason: 'gone' } });
  });

  test('X7 S9 at a private address gets nothing, and the error of the delivery names outbound.allow', async () => {
    const { id } = await add();
    await happen();
    // The URL is set directly, as if the address had been allowed when the webhook was added.
    await set('url', 'https://10.0.0.1/hooks');
    await deliver();
    expect(at.received).toEqual([]);
    expect(await deliveries(id)).toMatchObject([
      { status: 'waiting', error: expect.stringContaining('outbound.allow') },
    ]);
  });

  test('X7 with an endless body is judged by its status code; without an answer, the attempt ends after 10 s', async () => {
    const { id } = await add();
    at.behave((response) => {
      const drip = setInterval(() => response.write('x'.repeat(300_000)), 10);
      response.on('close', () => clearInterval(drip));
      response.writeHead(200);
    });
    await happen();
    await deliver();
    expect((await deliveries(id))[0]).toMatchObject({ status: 'delivered', responseStatus: 200 });
    at.behave(() => undefined);
    await happen();
    const began = performance.now();
    await deliver();
    expect(performance.now() - began).toBeLessThan(15_000);
    expect((await deliveries(id))[0]).toMatchObject({
      status: 'waiting',
      error: expect.stringContaining('in time'),
    });
  });
});

test('X7 an organization with constant messages does not delay others', async () => {
  const listening = { url: at.url, events: ['domain.added'] };
  for (let count = 0; count < 20; count += 1)
    await addWebhook(idctl.operator(), { org: slug, ...listening });
  const quiet = await organization(idctl);
  await addWebhook(idctl.operator(), { org: quiet.slug, ...listening });
  const awaited = `${fresh('d')}.test`;
  await happen();
  idctl.wait(1);
  await addDomain(idctl.operator(), { org: quiet.slug, domain: awaited });
  for (let second = 0; second < 2; second += 1) {
    idctl.wait(1);
    await happen();
    await deliver();
  }
  expect(domains()).toContain(awaited);
}, 120_000);

test('X7 a stop interrupts a delivery; the attempt does not count, and the next run sends the message at once', async () => {
  await add();
  await happen();
  const stop = new AbortController();
  at.behave(() => stop.abort());
  await deliverWebhooks(turn().anew(), { ...turn(), stop: stop.signal });
  expect((await WebhookDelivery.findAll())[0]).toMatchObject({ attempts: 0, status: 'waiting' });
  at.behave(answering(204));
  await deliver();
  expect(new Set(at.received.map(({ id }) => id)).size).toBe(1);
  expect((await WebhookDelivery.findAll())[0]).toMatchObject({ attempts: 1, status: 'delivered' });
});

test('X7 one daemon at a time delivers to a webhook; if it dies, another daemon takes over when the lease ends', async () => {
  await add();
  await happen();
  await happen();
  at.behave(async (response) => {
    await pause(50);
    response.writeHead(204).end();
  });
  await Promise.all([deliver(), deliver(), deliver()]);
  expect(at.received).toHaveLength(2);
  await happen();
  await set('leased_until', new Date(Date.now() + 19_000));
  await deliver();
  expect(at.received).toHaveLength(2);
  idctl.wait(20);
  await deliver();
  expect(at.received).toHaveLength(3);
});

test('X7 if a daemon answers after another daemon took over its webhook, only the other daemon’s result counts', async () => {
  const { id } = await add();
  await happen();
  const leaseId = crypto.randomUUID();
  at.behave(async (response) => {
    await transaction(() => Webhook.update({ leaseId }, { where: { id } }));
    response.writeHead(204).end();
  });
  await deliver();
  const [row] = await WebhookDelivery.findAll();
  expect(row).toMatchObject({ attempts: 0, status: 'waiting' });
  expect((await Webhook.findByPk(id))?.leaseId).toBe(leaseId);
});

test('interface page: doctor names a webhook that accepts nothing, and a disabled webhook is no problem', async () => {
  const { id } = await add();
  const organization = await Organization.findOne({ where: { slug }, rejectOnEmpty: true });
  const said = async () =>
    (await checkStored(idctl.operator(), [organization])).find(
      ({ name }) => name === `webhooks of ${slug}`,
    );
  expect(await said()).toMatchObject({ ok: true, message: '1 in use' });
  at.behave(answering(500));
  await happen();
  await deliver();
  expect(await countBacklog(idctl.operator().now)).toMatchObject({ webhook: { waiting: 1 } });
  expect(await said()).toMatchObject({
    ok: false,
    message: expect.stringContaining(`${at.url}: every attempt since 20`),
    hint: hintLike(`See why: idctl webhook deliveries ${id} --org ${slug}`),
  });
  at.behave(answering(204));
  await happen();
  await deliver();
  await change(id, false);
  expect(await said()).toMatchObject({ ok: true, message: '0 in use, 1 disabled' });
  expect(await countBacklog(idctl.operator().now)).toMatchObject({ webhook: { waiting: 0 } });
});

test('delivered messages are kept for a week, dead and waiting messages as long as events', async () => {
  const { id } = await add();
  const name = await happen();
  await deliver();
  at.behave(answering(410));
  await removeDomain(idctl.operator(), { org: slug, domain: name });
  await happen();
  await deliver();
  await happen();
  await change(id, true);
  await happen();
  await change(id, false);
  idctl.wait(8 * 86_400);
  await sweepNow(idctl.operator());
  expect((await deliveries(id)).map(({ status }) => status)).toEqual(['waiting', 'dead']);
  idctl.wait(400 * 86_400);
  await sweepNow(idctl.operator());
  expect(await WebhookDelivery.count()).toBe(0);
});
