import { afterAll, beforeAll, expect, test } from 'vitest';
import { AccessToken } from '../../src/database/models/access-token.ts';
import { Event } from '../../src/database/models/event.ts';
import { parse } from '../../src/input.ts';
import {
  createToken,
  listTokens,
  regenerateToken,
  revokeToken,
} from '../../src/services/people/tokens/operations.ts';
import { deleteUser } from '../../src/services/tenancy/profile/operations.ts';
import { organization, person, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { signedInPerson, tokenOf, useToken } from '../support/tokens.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

const day = 86_400;

test('§2.7 a token is shown once, and listed without its value afterwards', async () => {
  const ada = await signedInPerson(idctl);
  const made = await ada.post('/api/v1/me/tokens', {
    name: ' ci ',
    description: 'builds',
    expiresInDays: 30,
  });
  expect(made.status).toBe(201);
  const { token, ...view } = made.body;
  expect(token).toMatch(/^cos_pat_\w{38}$/);
  expect(view).toEqual({
    id: expect.any(String),
    name: 'ci',
    description: 'builds',
    prefix: token.slice(0, 12),
    kind: 'pat',
    scope: 'write',
    createdAt: expect.any(String),
    lastUsedAt: null,
    expiresAt: new Date(Date.parse(view.createdAt) + 30 * day * 1000).toISOString(),
  });
  expect(made.headers['cache-control']).toBe('no-store');
  const listed = await ada.get('/api/v1/me/tokens');
  expect(listed.body).toEqual({ items: [view], nextCursor: null });
});

test('§2.7 description and expiry are optional; without an expiry, the token is valid until it is revoked', async () => {
  const ada = await signedInPerson(idctl);
  const { body } = await ada.post('/api/v1/me/tokens', { name: 'ci' });
  expect(body).toMatchObject({ description: null, expiresAt: null });
  idctl.wait(4000 * day);
  expect((await useToken(idctl, body.token)).body).toMatchObject({ id: ada.id });
  const blank = await tokenOf(idctl);
  expect((await AccessToken.findByPk(blank.id))?.description).toBeNull();
});

const outOfRange = 'must be a whole number of days from 1 to 365';

test('§8 an expiry of 1 or 365 days is accepted; 0 and 366 are refused, by REST and the command line with one message', async () => {
  const ada = await signedInPerson(idctl);
  for (const expiresInDays of [1, 365]) {
    const answer = await ada.post('/api/v1/me/tokens', { name: 'ci', expiresInDays });
    expect(answer.status).toBe(201);
    expect(Date.parse(answer.body.expiresAt) - Date.parse(answer.body.createdAt)).toBe(
      expiresInDays * day * 1000,
    );
  }
  for (const expiresInDays of [0, 366, -1, 1.5]) {
    const answer = await ada.post('/api/v1/me/tokens', { name: 'ci', expiresInDays });
    const errors = [{ path: 'expiresInDays', message: outOfRange }];
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input', errors } });
    // test/cli/tokens.transcript has the message as the command line prints it.
    expect(() =>
      parse(createToken.forOperator.input, { user: ada.id, name: 'ci', expiresInDays }),
    ).toThrow(outOfRange);
  }
  for (const expiresInDays of ['30', null, true]) {
    expect((await ada.post('/api/v1/me/tokens', { name: 'ci', expiresInDays })).status).toBe(400);
  }
});

test('§2.7 a name is required, and must follow the rules for names', async () => {
  const ada = await signedInPerson(idctl);
  for (const body of [
    {},
    { name: '' },
    { name: 'a'.repeat(201) },
    { name: 'a\u202eb' },
    { name: 7 },
  ]) {
    const answer = await ada.post('/api/v1/me/tokens', body);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'name' }] } });
  }
  const answer = await ada.post('/api/v1/me/tokens', { name: 'ci', description: 'a\u0007' });
  expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'description' }] } });
  expect(parse(createToken.input, { name: 'ci', description: '  ' }).description).toBeNull();
});

test('§5.1 a token acts as its owner, and can do only what the owner’s roles allow', async () => {
  const { owner, slug } = await organization(idctl);
  const stranger = await person(idctl);
  const bearer = async (user: string) => ({
    authorization: `Bearer ${(await tokenOf(idctl, { user })).token}`,
  });
  const client = idctl.client();
  expect((await client.get(`/api/v1/orgs/${slug}/domains`, await bearer(owner.id))).status).toBe(
    200,
  );
  expect((await client.get(`/api/v1/orgs/${slug}/domains`, await bearer(stranger.id))).status).toBe(
    404,
  );
});

test('§3.5 regenerating keeps name, description, expiry and id; the old value is refused and the new one works', async () => {
  const ada = await signedInPerson(idctl);
  const made = await ada.post('/api/v1/me/tokens', {
    name: 'ci',
    description: 'builds',
    expiresInDays: 9,
  });
  const renewed = await ada.post(`/api/v1/me/tokens/${made.body.id}/regenerate`);
  expect(renewed.status).toBe(200);
  const { token, prefix } = renewed.body;
  expect(renewed.body).toEqual({ ...made.body, token, prefix });
  expect(token).not.toBe(made.body.token);
  expect(prefix).toBe(token.slice(0, 12));
  expect((await useToken(idctl, made.body.token)).status).toBe(401);
  expect((await useToken(idctl, token)).body).toMatchObject({ id: ada.id });
  const { token: _, ...kept } = made.body;
  expect((await ada.get('/api/v1/me/tokens')).body.items).toMatchObject([
    { ...kept, prefix, lastUsedAt: null },
  ]);
});

test('§3.5 an expired token cannot be regenerated: it keeps its expiry, so the new value would be invalid', async () => {
  const { id, use } = await tokenOf(idctl, { expiresInDays: 1 });
  idctl.wait(day - 60);
  expect((await use()).status).toBe(200);
  idctl.wait(60);
  expect((await use()).status).toBe(401);
  await expect(regenerateToken(idctl.operator(), { id })).rejects.toMatchObject({
    code: 'conflict',
  });
});

test('§3.5 a revoked token is refused at the next request, is not listed and cannot be regenerated', async () => {
  const ada = await signedInPerson(idctl);
  const { id, token } = (await ada.post('/api/v1/me/tokens', { name: 'ci' })).body;
  expect((await ada.send('DELETE', `/api/v1/me/tokens/${id}`)).status).toBe(204);
  expect(await useToken(idctl, token)).toMatchObject({
    status: 401,
    body: { code: 'invalid_credential' },
  });
  expect((await ada.get('/api/v1/me/tokens')).body.items).toEqual([]);
  expect((await ada.send('DELETE', `/api/v1/me/tokens/${id}`)).status).toBe(404);
  expect((await ada.post(`/api/v1/me/tokens/${id}/regenerate`)).status).toBe(404);
});

test('over REST, an account lists, regenerates and revokes only its own tokens', async () => {
  const { id, use } = await tokenOf(idctl);
  const other = await signedInPerson(idctl);
  expect((await other.get('/api/v1/me/tokens')).body.items).toEqual([]);
  expect((await other.post(`/api/v1/me/tokens/${id}/regenerate`)).body.code).toBe('not_found');
  expect((await other.send('DELETE', `/api/v1/me/tokens/${id}`)).body.code).toBe('not_found');
  const named = await other.post('/api/v1/me/tokens', {
    name: 'ci',
    user: (await person(idctl)).id,
  });
  expect(named).toMatchObject({ status: 400, body: { errors: [{ path: 'user' }] } });
  expect((await use()).status).toBe(200);
});

test('the operator names the account of a token, or revokes a token by its id alone', async () => {
  const { id, user, use } = await tokenOf(idctl);
  const stranger = await person(idctl);
  const elsewhere = { id, user: stranger.id };
  await expect(revokeToken(idctl.operator(), elsewhere)).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(regenerateToken(idctl.operator(), elsewhere)).rejects.toMatchObject({
    code: 'not_found',
  });
  const { items } = await listTokens(idctl.operator(), { user, limit: 50 });
  expect(items.map((token) => token.id)).toEqual([id]);
  await revokeToken(idctl.operator(), { id });
  expect((await use()).status).toBe(401);
});

test('only the operator can name an account', async () => {
  const { id, user, use } = await tokenOf(idctl);
  const stranger = await person(idctl);
  const actor = {
    kind: 'user',
    accountId: stranger.id,
    name: 'Eve',
    via: 'session',
    sessionId: id,
  } as const;
  const forbidden = { code: 'forbidden' };
  await expect(createToken(idctl.as(actor), { user, name: 'ci' })).rejects.toMatchObject(forbidden);
  await expect(listTokens(idctl.as(actor), { user, limit: 50 })).rejects.toMatchObject(forbidden);
  await expect(revokeToken(idctl.as(actor), { id, user })).rejects.toMatchObject(forbidden);
  expect((await use()).status).toBe(200);
});

test('the cursor of a page continues the list after that page', async () => {
  const ada = await signedInPerson(idctl);
  for (const name of ['a', 'b', 'c']) await ada.post('/api/v1/me/tokens', { name });
  const first = await ada.get('/api/v1/me/tokens?limit=2');
  const second = await ada.get(`/api/v1/me/tokens?limit=2&cursor=${first.body.nextCursor}`);
  const names = [...first.body.items, ...second.body.items].map(({ name }) => name);
  expect([names, second.body.nextCursor]).toEqual([['a', 'b', 'c'], null]);
});

test('X5 creating, regenerating and revoking a token record events with the actor and without the value', async () => {
  const ada = await signedInPerson(idctl);
  const { id, token } = (await ada.post('/api/v1/me/tokens', { name: 'ci' })).body;
  const renewed = await ada.post(`/api/v1/me/tokens/${id}/regenerate`);
  await ada.send('DELETE', `/api/v1/me/tokens/${id}`);
  const events = (await Event.findAll({ order: ['id'] })).filter(
    ({ subject }) => subject?.id === id,
  );
  expect(events.map(({ kind }) => kind)).toEqual([
    'token.created',
    'token.regenerated',
    'token.revoked',
  ]);
  expect(events).toMatchObject(
    Array(3).fill({
      actor: { kind: 'user', id: ada.id },
      subject: { type: 'token', name: 'ci' },
      data: { account: ada.id },
    }),
  );
  for (const value of [token, renewed.body.token])
    expect(JSON.stringify(events)).not.toContain(value);
});

test('O6 deleting an account deletes its tokens', async () => {
  const { id, user, use } = await tokenOf(idctl);
  await deleteUser(idctl.operator(), { user });
  expect((await use()).status).toBe(401);
  expect(await AccessToken.findByPk(id)).toBeNull();
});

test('a token has no session: it lists no session as current, and a logout with it ends nothing', async () => {
  const { email, id } = await person(idctl);
  const browser = await signedIn(idctl, email);
  const { token, use } = await tokenOf(idctl, { user: id });
  const headers = { authorization: `Bearer ${token}` };
  const sessions = await idctl.client().get('/api/v1/me/sessions', headers);
  expect(sessions.body.items).toMatchObject([{ current: false }]);
  expect((await idctl.client().post('/api/v1/auth/logout', undefined, headers)).status).toBe(204);
  expect((await use()).status).toBe(200);
  expect((await browser.get('/api/v1/me')).status).toBe(200);
});
