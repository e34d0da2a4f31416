import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPasswordHasher } from '../../src/crypto/password.ts';
import { Counter } from '../../src/database/models/counter.ts';
import { Event } from '../../src/database/models/event.ts';

import { disableUser, unlockUser } from '../../src/services/people/users/operations.ts';
import { fresh, password, person, signedIn } from '../support/builders.ts';
import type { Answer } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { sweepNow } from '../support/sweep.ts';

// The instance trusts the tests as a proxy, so each request can have its own client address. The
// hashes are cheap, and wait up to a minute for their turn.

let idctl: Idctl;

beforeAll(async () => {
  idctl = await openIdctl({ http: { trustedProxies: ['127.0.0.1'] } });
  idctl.app.passwords = createPasswordHasher({ memory: 64, time: 1, lanes: 1, maxWaitMs: 60_000 });
});
afterAll(() => idctl.close());

let hosts = 0;

/** A client address that no other request has. */
function elsewhere(): string {
  hosts += 1;
  return `198.51.${hosts >> 8}.${hosts & 255}`;
}

function tryPassword(email: string, given: string, from = elsewhere()): Promise<Answer> {
  return idctl
    .client()
    .post('/api/v1/auth/login', { email, password: given }, { 'x-forwarded-for': from });
}

/** Tries wrong passwords, each from another client address. Returns the statuses. */
async function fail(email: string, times: number): Promise<number[]> {
  const answers: number[] = [];
  for (let done = 0; done < times; done += 1)
    answers.push((await tryPassword(email, 'wrong')).status);
  return answers;
}

const waitOf = (answer: Answer) => Number(answer.headers['retry-after']);

/** An answer without the parts that differ from one request to the next. */
function seen({ status, body, headers, cookies }: Answer) {
  const { date: _, 'x-request-id': __, 'retry-after': ___, ...rest } = headers;
  return { status, body: { ...body, requestId: '' }, headers: rest, cookies };
}

test('P8 after ten wrong passwords an account is locked, even for the right one', async () => {
  const { email } = await person(idctl);
  expect(await fail(email ?? '', 10)).toEqual(Array(10).fill(401));
  const locked = await tryPassword(email ?? '', password);
  expect(locked).toMatchObject({ status: 429, body: { code: 'too_many_requests' }, cookies: [] });
  expect(waitOf(locked)).toBeGreaterThan(600);
  expect(waitOf(locked)).toBeLessThanOrEqual(900);
});

test('P8 a lockout ends by itself, doubles with each new lockout, and lasts a day at most', async () => {
  const { email } = await person(idctl);
  const waits: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    await fail(email ?? '', 10);
    const wait = waitOf(await tryPassword(email ?? '', password));
    waits.push(wait);
    idctl.wait(wait);
  }
  const doubled = [900, 1800, 3600, 7200, 14_400, 28_800, 57_600, 86_400, 86_400, 86_400];
  waits.forEach((wait, round) => {
    expect(wait).toBeLessThanOrEqual(doubled[round] ?? 0);
    expect(wait).toBeGreaterThan((doubled[round] ?? 0) - 60);
  });
  expect((await tryPassword(email ?? '', password)).status).toBe(200);
});

test('P8 a daemon whose clock is behind does not ask a client to wait longer than the lockout lasts', async () => {
  const { email } = await person(idctl);
  await fail(email ?? '', 10);
  idctl.wait(-30);
  expect(waitOf(await tryPassword(email ?? '', password))).toBe(900);
  idctl.wait(30);
});

test('P8 after a quiet time as long as the last lockout, the next lockout is as short as the first', async () => {
  const { email } = await person(idctl);
  await fail(email ?? '', 10);
  idctl.wait(1800);
  await fail(email ?? '', 10);
  expect(waitOf(await tryPassword(email ?? '', password))).toBeLessThanOrEqual(900);
});

test('P8 a wrong password does not shorten the time for which a network is known', async () => {
  const { email } = await person(idctl);
  const home = elsewhere();
  expect((await tryPassword(email ?? '', password, home)).status).toBe(200);
  expect((await tryPassword(email ?? '', 'wrong', home)).status).toBe(401);
  idctl.wait(3 * 86_400);
  await sweepNow(idctl.operator());
  await fail(email ?? '', 10);
  expect((await tryPassword(email ?? '', password)).status).toBe(429);
  expect((await tryPassword(email ?? '', password, home)).status).toBe(200);
});

test('P8 a locked address gets the same answer with and without an account', async () => {
  const { email } = await person(idctl);
  const disabled = await person(idctl);
  await disableUser(idctl.operator(), { user: disabled.id });
  const stranger = `${fresh('nobody')}@example.test`;
  const answers: Answer[] = [];
  for (const address of [email, disabled.email, stranger]) {
    expect(await fail(address ?? '', 10)).toEqual(Array(10).fill(401));
    answers.push(await tryPassword(address ?? '', password));
  }
  const [first, ...others] = answers.map(seen);
  expect(first).toMatchObject({ status: 429 });
  for (const other of others) expect(other).toEqual(first);
});

test('P8 nothing is hashed for a locked account', async () => {
  const { email } = await person(idctl);
  await fail(email ?? '', 10);
  const { verify } = idctl.app.passwords;
  let hashes = 0;
  idctl.app.passwords.verify = (...given) => {
    hashes += 1;
    return verify(...given);
  };
  await fail(email ?? '', 5);
  idctl.app.passwords.verify = verify;
  expect(hashes).toBe(0);
});

test('P8 an attempt is counted and committed before its password is checked', async () => {
  const { email } = await person(idctl);
  const { verify } = idctl.app.passwords;
  const counted: number[] = [];
  const look = async () => counted.push(Number(await Counter.sum('used')));
  await look();
  idctl.app.passwords.verify = async (hash, given, onTurn) => {
    await onTurn?.();
    await look();
    return verify(hash, given);
  };
  await tryPassword(email ?? '', password);
  idctl.app.passwords.verify = verify;
  await look();
  const [before = 0, whileHashed, after] = counted;
  // One count is the account's, and one is the client's.
  expect([whileHashed, after]).toEqual([before + 2, before]);
});

test('P8 of twenty parallel guesses, ten are tried and ten are not', async () => {
  const { email } = await person(idctl);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => tryPassword(email ?? '', 'wrong')),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([
    ...Array(10).fill(401),
    ...Array(10).fill(429),
  ]);
});

test('P8 twenty correct passwords at once reach no limit: only refused ones count', async () => {
  const { email } = await person(idctl);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => tryPassword(email ?? '', password)),
  );
  // A busy machine refuses some passwords with 503. This does not count either.
  expect(answers.map(({ status }) => status).filter((status) => status !== 503)).not.toContain(429);
  expect(new Set(answers.map(({ status }) => status)).has(200)).toBe(true);
  expect(await fail(email ?? '', 10)).toEqual(Array(10).fill(401));
});

test('P8 malformed input does not count', async () => {
  const { email } = await person(idctl);
  const from = elsewhere();
  for (let done = 0; done < 40; done += 1) {
    const body = { email, password: 7 };
    const answer = await idctl
      .client()
      .post('/api/v1/auth/login', body, { 'x-forwarded-for': from });
    expect(answer.status).toBe(400);
  }
  expect((await tryPassword(email ?? '', password, from)).status).toBe(200);
});

test('P8 refused callbacks of a provider do not count', async () => {
  const { email } = await person(idctl);
  const from = elsewhere();
  for (let done = 0; done < 40; done += 1) {
    const path = '/auth/sso/callback?code=c&state=forged';
    expect((await idctl.client().get(path, { 'x-forwarded-for': from })).status).not.toBe(429);
  }
  expect((await tryPassword(email ?? '', password, from)).status).toBe(200);
});

test('P8 all spellings of an address share one counter', async () => {
  const { email } = await person(idctl);
  const loud = ` ${email?.toUpperCase()} `.trim();
  for (let done = 0; done < 5; done += 1) {
    expect((await tryPassword(email ?? '', 'wrong')).status).toBe(401);
    expect((await tryPassword(loud, 'wrong')).status).toBe(401);
  }
  expect((await tryPassword(email ?? '', 'wrong')).status).toBe(429);
});

test('P8 sessions stay valid while the account is locked', async () => {
  const { email } = await person(idctl);
  const browser = await signedIn(idctl, email);
  await fail(email ?? '', 11);
  expect((await browser.get('/api/v1/me')).status).toBe(200);
  expect((await browser.post('/api/v1/auth/refresh')).status).toBe(200);
});

test('P8 the failures of strangers do not lock out a person who signed in lately; the person’s own failures do', async () => {
  const { email } = await person(idctl);
  const home = elsewhere();
  expect((await tryPassword(email ?? '', password, home)).status).toBe(200);
  await fail(email ?? '', 10);
  expect((await tryPassword(email ?? '', password)).status).toBe(429);
  expect((await tryPassword(email ?? '', password, home)).status).toBe(200);
  for (let done = 0; done < 10; done += 1) await tryPassword(email ?? '', 'wrong', home);
  expect((await tryPassword(email ?? '', password, home)).status).toBe(429);
});

test('P8 one client address is refused after thirty failures in a minute, for any accounts', async () => {
  const from = elsewhere();
  for (let done = 0; done < 30; done += 1) {
    expect((await tryPassword(`${fresh('x')}@example.test`, 'wrong', from)).status).toBe(401);
  }
  const { email } = await person(idctl);
  const limited = await tryPassword(email ?? '', password, from);
  expect(limited.status).toBe(429);
  expect(waitOf(limited)).toBeLessThanOrEqual(60);
  expect((await tryPassword(email ?? '', password)).status).toBe(200);
  idctl.wait(waitOf(limited));
  expect((await tryPassword(email ?? '', password, from)).status).toBe(200);
});

test('P8 an IPv6 client counts as its /64', async () => {
  const host = (group: number) => `2001:db8:7:8::${group.toString(16)}`;
  for (let done = 0; done < 30; done += 1)
    await tryPassword(`${fresh('x')}@example.test`, 'x', host(done));
  expect((await tryPassword(`${fresh('x')}@example.test`, 'x', host(99))).status).toBe(429);
  expect((await tryPassword(`${fresh('x')}@example.test`, 'x', '2001:db8:7:9::1')).status).toBe(
    401,
  );
});

test('P8 the operator unlocks an account, with an event; other people cannot', async () => {
  const { email, id } = await person(idctl);
  const home = elsewhere();
  await tryPassword(email ?? '', password, home);
  for (let done = 0; done < 10; done += 1) await tryPassword(email ?? '', 'wrong', home);
  await fail(email ?? '', 10);
  const user = { kind: 'user', accountId: id, name: 'Ada', via: 'session', sessionId: id } as const;
  await expect(unlockUser(idctl.as(user), { user: id })).rejects.toMatchObject({
    code: 'forbidden',
  });
  expect(await unlockUser(idctl.operator(), { user: email ?? '' })).toMatchObject({ id, email });
  expect((await tryPassword(email ?? '', password, home)).status).toBe(200);
  expect((await tryPassword(email ?? '', password)).status).toBe(200);
  const events = await Event.findAll({ where: { kind: 'user.unlocked' }, raw: true });
  expect(events.filter(({ subject }) => JSON.stringify(subject).includes(id))).toHaveLength(1);
});

test('P8 the counters name no person, and are deleted when they expire', async () => {
  const stranger = `${fresh('nobody')}@example.test`;
  await tryPassword(stranger, 'wrong', '203.0.113.77');
  const rows = await Counter.findAll({ raw: true });
  expect(rows.length).toBeGreaterThan(0);
  // Leave numbers out: a time such as 1795327203.01 also matches 203.0.
  const texts = JSON.stringify(rows, (_, value) => (typeof value === 'number' ? undefined : value));
  expect(texts).not.toMatch(/@|nobody|203\.0/);
  idctl.wait(31 * 86_400);
  await sweepNow(idctl.operator());
  expect(await Counter.count()).toBe(0);
});
