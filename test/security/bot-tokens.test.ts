import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { AccessToken } from '../../src/database/models/access-token.ts';
import { Event } from '../../src/database/models/event.ts';
import { transaction } from '../../src/database/transaction.ts';
import { sweepExpired } from '../../src/services/instance/upkeep.ts';
import { regenerateApp, revokeApp } from '../../src/services/people/apps/operations.ts';
import { disableUser } from '../../src/services/people/users/operations.ts';
import { appOf } from '../support/apps.ts';
import { openInstance } from '../support/instance.ts';
import { useToken } from '../support/tokens.ts';

// Security P14 limits an app's bot tokens: their number, their rate and their lifetime.

test('P14 a bot token expires after oauth.botTokenTtl, and the sweep deletes it', async () => {
  const instance = await openInstance({ oauth: { botTokenTtl: '30m' } });
  const { id, ask } = await appOf(instance);
  instance.stopClock();
  const { body } = await ask();
  expect(body.expires_in).toBe(1800);
  instance.wait(1799);
  expect((await useToken(instance, body.access_token)).status).toBe(200);
  instance.wait(1);
  expect((await useToken(instance, body.access_token)).status).toBe(401);
  instance.wait(1);
  await sweepExpired(instance.operator());
  expect(await AccessToken.count({ where: { appId: id } })).toBe(0);
});

test('P14 an app has at most 100 active bot tokens: one more revokes the oldest, with an event', async () => {
  const instance = await openInstance({ limits: { enabled: 'off' } });
  const { id, mint } = await appOf(instance);
  const minted: string[] = [];
  const live = () =>
    Promise.all(minted.map(async (token) => (await useToken(instance, token)).status));
  for (let n = 0; n < 101; n += 1) minted.push(await mint());
  expect(await live()).toEqual([401, ...Array(100).fill(200)]);
  minted.push(await mint());
  expect(await live()).toEqual([401, 401, ...Array(100).fill(200)]);
  const gone = await Event.findAll({ where: { kind: 'token.revoked' } });
  expect(gone).toMatchObject(
    Array(2).fill({ actor: { kind: 'app', id }, data: { app: id, reason: 'too_many' } }),
  );
  instance.wait(86_400);
  await mint();
  expect(await Event.count({ where: { kind: 'token.revoked' } })).toBe(2);
});

test('after limits.tokenRequests requests in a minute, an app gets 429 with Retry-After; other apps do not', async () => {
  const instance = await openInstance({ limits: { tokenRequests: 3 } });
  const [busy, other] = [await appOf(instance), await appOf(instance)];
  for (let n = 0; n < 3; n += 1) await busy.mint();
  const refused = await busy.ask();
  expect(refused).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(await AccessToken.count({ where: { appId: busy.id } })).toBe(3);
  await other.mint();
  instance.wait(Number(refused.headers['retry-after']));
  await busy.mint();
});

test('a stranger who knows only the client id does not use up the app’s requests', async () => {
  const instance = await openInstance({ limits: { tokenRequests: 2 } });
  const { ask, mint } = await appOf(instance);
  const statuses: number[] = [];
  for (let n = 0; n < 5; n += 1) statuses.push((await ask({ client_secret: 'guess' })).status);
  expect(statuses).toEqual([401, 401, 429, 429, 429]);
  await mint();
  await mint();
});

test('P8 wrong client secrets count by client address, over all client ids and endpoints; a right one is still accepted', async () => {
  const instance = await openInstance({
    limits: { tokenRequests: 6 },
    http: { trustedProxies: ['127.0.0.1'] },
  });
  const app = await appOf(instance);
  const endpoints = ['token', 'introspect', 'revoke'];
  const guess = (at: number, from: string) => {
    const client = { client_id: `app-${at}`, client_secret: 'guess' };
    const form = { grant_type: 'client_credentials', token: 'x', ...client };
    const path = `/api/v1/oauth/${endpoints[at % 3]}`;
    return instance.client().form(path, form, { 'x-forwarded-for': from });
  };
  const from = '2001:db8:7:8::1';
  for (let at = 0; at < 6; at += 1) expect((await guess(at, from)).status).toBe(401);
  const events = await Event.count({ where: { kind: 'app.refused' } });
  for (let at = 6; at < 9; at += 1) {
    const refused = await guess(at, '2001:db8:7:8::2');
    expect(refused).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  }
  expect(await Event.count({ where: { kind: 'app.refused' } })).toBe(events);
  expect((await guess(9, '2001:db8:7:9::1')).status).toBe(401);
  const right = { grant_type: 'client_credentials', ...app.credentials };
  const answer = await instance
    .client()
    .form('/api/v1/oauth/token', right, { 'x-forwarded-for': from });
  expect(answer.status).toBe(200);
  instance.wait(61);
  expect((await guess(10, from)).status).toBe(401);
});

test('P8 wrong client secrets sent at once are checked only up to the limit', async () => {
  const instance = await openInstance({ limits: { tokenRequests: 4 } });
  const { ask } = await appOf(instance);
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => ask({ client_secret: 'guess' })),
  );
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(4);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(8);
});

test('an app that sends parallel requests gets only as many tokens as the limit allows', async () => {
  const instance = await openInstance({ limits: { tokenRequests: 5 } });
  const { id, ask } = await appOf(instance);
  const answers = await Promise.all(Array.from({ length: 12 }, () => ask()));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(7);
  expect(await AccessToken.count({ where: { appId: id } })).toBe(5);
});

test('no token stays valid if the app is revoked, or the owner disabled, while the token is issued', async () => {
  const instance = await openInstance();
  for (const end of [
    ({ id }: { id: string }) => revokeApp(instance.operator(), { id, keepTokens: false }),
    ({ user }: { user: string }) => disableUser(instance.operator(), { user }),
  ]) {
    const app = await appOf(instance);
    const [, ...answers] = await Promise.all([end(app), app.ask(), app.ask(), app.ask()]);
    for (const { status, body } of answers) {
      expect([200, 401]).toContain(status);
      if (status === 200) expect((await useToken(instance, body.access_token)).status).toBe(401);
    }
  }
});

test.each([
  [
    'revoked does not get a token',
    (ctx: Context, id: string) => revokeApp(ctx, { id, keepTokens: false }),
  ],
  [
    'regenerated does not get a token with its former secret',
    (ctx: Context, id: string) => regenerateApp(ctx, { id }),
  ],
])('P14 an app that is being %s', async (_, end) => {
  const instance = await openInstance();
  const { id, ask } = await appOf(instance);
  const revoked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const revoking = transaction(async () => {
    await end(instance.operator(), id);
    revoked.resolve();
    await go.promise;
  });
  await revoked.promise;
  const asked = ask();
  // Gives the request time to reach the lock. A slower request does not fail the test.
  await pause(500);
  go.resolve();
  await revoking;
  expect(await asked).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
});
