import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createOutbound } from '../../src/outbound/create.ts';
import { defaultLimits } from '../../src/outbound/limits.ts';
import type { Answer } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { connected, registration, start } from '../support/sso.ts';

// The instance trusts the tests as a proxy, so each request can have its own client address. The
// provider's token endpoint does not answer until a test calls `release`.

let provider: LyingProvider;
let other: LyingProvider;
let idctl: Idctl;
let release: () => void;
let held: number;

beforeAll(async () => {
  provider = await startLyingProvider(registration.clientId, '');
  other = await startLyingProvider(registration.clientId, '');
  const google = {
    clientId: registration.clientId,
    clientSecret: 'secret',
    issuer: provider.issuer,
  };
  idctl = await openIdctl({
    http: { trustedProxies: ['127.0.0.1'] },
    outbound: { allow: ['127.0.0.1'] },
    social: { google },
  });
  // On a busy machine, a provider may need more than the usual ten seconds.
  const patient = { ...defaultLimits, total: 60_000 };
  idctl.app.outbound = createOutbound(idctl.app.config, () => undefined, patient);
});
beforeEach(() => {
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  held = 0;
  provider.answers.token = async () => {
    held += 1;
    await released;
    return { status: 400, body: { error: 'invalid_grant' } };
  };
});
afterAll(async () => {
  await Promise.all([provider.stop(), other.stop()]);
  await idctl.close();
});

const stateOf = (url: string) => new URL(url).searchParams.get('state') ?? '';

function callback(kind: 'sso' | 'social/google', state: string, from: string): Promise<Answer> {
  const path = `/auth/${kind}/callback?code=made-up&state=${encodeURIComponent(state)}`;
  return idctl.client().get(path, { 'x-forwarded-for': from });
}

const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status);
const tooMany = { status: 503, body: { code: 'overloaded' }, cookies: [] };

test('S9 at most ten callbacks of one client address wait for a provider at once; the eleventh is refused and can be repeated', async () => {
  const { domain } = await connected(idctl, provider.issuer);
  const state = async () => stateOf(await start(idctl.client(), domain));
  const waiting: Promise<Answer>[] = [];
  for (let at = 0; at < 10; at += 1)
    waiting.push(callback('sso', await state(), `2001:db8:7:8::${at}`));
  await expect.poll(() => held, { timeout: 20_000 }).toBe(10);
  const late = await state();
  const refused = await callback('sso', late, '2001:db8:7:8::ff');
  expect(refused).toMatchObject(tooMany);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  const social = await idctl.client().get('/auth/social/google/start');
  const { authorizationUrl } = social.body;
  expect(
    await callback('social/google', stateOf(authorizationUrl), '2001:db8:7:8::1'),
  ).toMatchObject(tooMany);
  waiting.push(callback('sso', await state(), '2001:db8:7:9::1'));
  await expect.poll(() => held, { timeout: 20_000 }).toBe(11);
  release();
  expect(statusesOf(await Promise.all(waiting))).toEqual(Array(11).fill(401));
  // The refused callback did not use up its state: this time, the provider is asked.
  expect((await callback('sso', late, '2001:db8:7:8::ff')).status).toBe(401);
  expect(held).toBe(12);
}, 60_000);

test('S9 at most fifty callbacks wait for one connection at once; another connection still works', async () => {
  const [one, another] = [
    await connected(idctl, provider.issuer),
    await connected(idctl, other.issuer),
  ];
  const waiting: Promise<Answer>[] = [];
  const states: string[] = [];
  for (let at = 0; at < 52; at += 1) states.push(stateOf(await start(idctl.client(), one.domain)));
  const late = states.splice(50);
  for (const [at, state] of states.entries())
    waiting.push(callback('sso', state, `198.51.100.${at}`));
  await expect.poll(() => held, { timeout: 20_000 }).toBe(50);
  for (const state of late)
    expect(await callback('sso', state, '203.0.113.1')).toMatchObject(tooMany);
  const elsewhere = stateOf(await start(idctl.client(), another.domain));
  expect((await callback('sso', elsewhere, '203.0.113.1')).status).toBe(401);
  expect(other.seen.filter(({ path }) => path === '/token')).toHaveLength(1);
  release();
  expect(statusesOf(await Promise.all(waiting))).toEqual(Array(50).fill(401));
  expect(held).toBe(50);
}, 60_000);

test('S9 at most ten callbacks of one client address wait for a social provider at once', async () => {
  const state = async () =>
    stateOf((await idctl.client().get('/auth/social/google/start')).body.authorizationUrl);
  const waiting: Promise<Answer>[] = [];
  for (let at = 0; at < 10; at += 1)
    waiting.push(callback('social/google', await state(), '198.51.100.7'));
  await expect.poll(() => held, { timeout: 20_000 }).toBe(10);
  expect(await callback('social/google', await state(), '198.51.100.7')).toMatchObject(tooMany);
  release();
  expect(statusesOf(await Promise.all(waiting))).toEqual(Array(10).fill(401));
}, 60_000);
