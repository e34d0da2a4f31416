import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPasswordHasher } from '../../src/crypto/password.ts';
import { Event } from '../../src/database/models/event.ts';
import { transaction } from '../../src/database/transaction.ts';
import { disableUser } from '../../src/services/people/users/operations.ts';
import { fresh, organization, password, person, verifiedDomain } from '../support/builders.ts';
import type { Answer } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

let idctl: Idctl;

beforeAll(async () => {
  idctl = await openIdctl({ http: { trustedProxies: ['127.0.0.1'] } });
  idctl.app.passwords = createPasswordHasher({ memory: 64, time: 1, lanes: 1, maxWaitMs: 60_000 });
});
afterAll(() => idctl.close());

let hosts = 0;

function elsewhere(): string {
  hosts += 1;
  return `198.51.100.${hosts}`;
}

function tryPassword(email: string | null, given: string, from = elsewhere()): Promise<Answer> {
  const headers = { 'x-forwarded-for': from };
  return idctl.client().post('/api/v1/auth/login', { email, password: given }, headers);
}

/** The events of refused sign-ins for this account, or for unknown accounts from this network. */
async function refused(about: { id: string } | { address: string }) {
  const events = await Event.findAll({ where: { kind: 'signin.refused' }, order: ['id'] });
  return events.filter(({ subject, data }) =>
    'id' in about
      ? subject?.id === about.id
      : subject === null && data['address'] === about.address,
  );
}

test('X5 the failures of one account share one event, which counts them', async () => {
  const { id, email } = await person(idctl);
  for (let done = 0; done < 5; done += 1) await tryPassword(email, 'wrong');
  const [event, ...more] = await refused({ id });
  expect(more).toEqual([]);
  expect(event).toMatchObject({
    actor: { kind: 'anonymous' },
    subject: { type: 'user', id, name: 'Ada Byron' },
    data: { method: 'password', reason: 'wrong_password', count: 5 },
  });
  expect(new Date(String(event?.data['lastAt'])).getTime()).toBeGreaterThanOrEqual(
    event?.at.getTime() ?? 0,
  );
});

test('X5 parallel failures are all counted in one event', async () => {
  const { id, email } = await person(idctl);
  await Promise.all(Array.from({ length: 10 }, () => tryPassword(email, 'wrong')));
  const events = await refused({ id });
  expect(events.map(({ data }) => data['count'])).toEqual([10]);
});

test('X5 the event of a failure names the reference that the person was shown', async () => {
  const { id, email } = await person(idctl);
  const shown: string[] = [];
  for (let done = 0; done < 3; done += 1) {
    const { body, headers } = await tryPassword(email, 'wrong');
    expect(headers['x-request-id']).toBe(body.requestId);
    shown.push(body.requestId);
  }
  expect((await refused({ id })).map(({ data }) => data['references'])).toEqual([shown]);
  const nobody = await tryPassword(`${fresh('nobody')}@example.test`, 'wrong', '2001:db8:9:9::1');
  const [event] = await refused({ address: '2001:db8:9:9::/64' });
  expect(event?.data['references']).toEqual([nobody.body.requestId]);
});

test('X5 the event keeps the last 20 references, and counts all failures', async () => {
  const shown: string[] = [];
  for (let host = 1; host <= 25; host += 1) {
    const from = `2001:db8:7:7::${host}`;
    const { body } = await tryPassword(`${fresh('nobody')}@example.test`, 'wrong', from);
    shown.push(body.requestId);
  }
  const [event] = await refused({ address: '2001:db8:7:7::/64' });
  expect(event?.data['count']).toBe(25);
  expect(event?.data['references']).toEqual(shown.slice(-20));
});

test('X5 the event keeps the reason of each reference, if they differ', async () => {
  const { id, email } = await person(idctl);
  const shown: string[] = [];
  const fail = async (given: string) => {
    shown.push((await tryPassword(email, given)).body.requestId);
    return (await refused({ id }))[0]?.data;
  };
  await fail('wrong');
  expect(await fail('wrong')).not.toHaveProperty('reasons');
  await disableUser(idctl.operator(), { user: id });
  expect(await fail(password)).toMatchObject({
    reason: 'account_disabled',
    references: shown,
    reasons: ['wrong_password', 'wrong_password', 'account_disabled'],
  });
});

test('X5 the event has the references of all parallel failures', async () => {
  const { id, email } = await person(idctl);
  const answers = await Promise.all(Array.from({ length: 10 }, () => tryPassword(email, 'wrong')));
  const [event] = await refused({ id });
  const shown = answers.map(({ body }) => body.requestId);
  expect(new Set(event?.data['references'] as string[])).toEqual(new Set(shown));
});

test('X5 an event that an earlier version wrote without references gets references too', async () => {
  const { id, email } = await person(idctl);
  await tryPassword(email, 'wrong');
  const [written] = await refused({ id });
  const { references: _, ...data } = written?.data ?? {};
  await transaction(() => Event.update({ data }, { where: { id: written?.id ?? '' } }));
  const { body } = await tryPassword(email, 'wrong');
  expect((await refused({ id })).map((event) => event.data)).toMatchObject([
    { count: 2, references: [body.requestId] },
  ]);
});

test('X5 refused sign-ins of unknown addresses share one event per client site and verified domain, which names the domain', async () => {
  const { slug } = await organization(idctl);
  const domain = await verifiedDomain(idctl, slug);
  const from = '2001:db8:5:5::1';
  const of = (at: string) => tryPassword(`${fresh('nobody')}@${at}`, 'wrong', from);
  await of(domain);
  await of('unverified.test');
  await of(domain);
  await of(`below.${domain}`);
  const events = await refused({ address: '2001:db8:5:5::/64' });
  expect(events.map(({ data }) => [data['domain'], data['count']])).toEqual([
    [domain, 2],
    [undefined, 2],
  ]);
  expect(JSON.stringify(events)).not.toContain('nobody');
});

test('X5 the next quarter of an hour has its own event', async () => {
  const { id, email } = await person(idctl);
  await tryPassword(email, 'wrong');
  idctl.wait(901);
  await tryPassword(email, 'wrong');
  await tryPassword(email, 'wrong');
  expect((await refused({ id })).map(({ data }) => data['count'])).toEqual([1, 2]);
});

test('X5 failures for made-up addresses share one event per client network, without the addresses', async () => {
  const before = await Event.count();
  for (let host = 1; host <= 8; host += 1) {
    await tryPassword(`${fresh('nobody')}@example.test`, 'wrong', `2001:db8:1:2::${host}`);
  }
  const [event, ...more] = await refused({ address: '2001:db8:1:2::/64' });
  expect(more).toEqual([]);
  expect(event?.data).toMatchObject({ reason: 'unknown_account', count: 8 });
  expect(JSON.stringify(event)).not.toContain('nobody');
  expect(await Event.count()).toBe(before + 1);
});

test('X5 an attempt that a limit refuses is not added to the event', async () => {
  const { id, email } = await person(idctl);
  for (let done = 0; done < 15; done += 1) await tryPassword(email, 'wrong');
  expect((await refused({ id })).map(({ data }) => data['count'])).toEqual([10]);
});

test('X5 with the right password of a disabled account, the event’s reason is that the account is disabled', async () => {
  const { id, email } = await person(idctl);
  await disableUser(idctl.operator(), { user: id });
  expect((await tryPassword(email, password)).status).toBe(401);
  expect((await refused({ id }))[0]?.data).toMatchObject({ reason: 'account_disabled', count: 1 });
});

test('X5 failures from a whole /48 of client addresses share one event of each kind, which counts them all', async () => {
  const before = await Event.count();
  const from = (net: number) => `2001:db8:48:${net.toString(16)}::1`;
  for (let net = 1; net <= 12; net += 1) {
    await tryPassword(`${fresh('nobody')}@example.test`, 'wrong', from(net));
    const fields = {
      grant_type: 'client_credentials',
      client_id: crypto.randomUUID(),
      client_secret: 'wrong',
    };
    await idctl.client().form('/api/v1/oauth/token', fields, { 'x-forwarded-for': from(net) });
  }
  expect(await Event.count()).toBe(before + 2);
  const [event] = await refused({ address: '2001:db8:48:c::/64' });
  expect(event?.data).toMatchObject({ count: 12 });
});
