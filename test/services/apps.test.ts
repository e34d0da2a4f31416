import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { OAuthApp } from '../../src/database/models/app.ts';
import { Event } from '../../src/database/models/event.ts';
import { transaction } from '../../src/database/transaction.ts';
import { registerApp, revokeApp } from '../../src/services/people/apps/operations.ts';
import { disableUser, enableUser } from '../../src/services/people/users/operations.ts';
import { reclaim } from '../../src/services/tenancy/identities/reclaim.ts';
import { deleteUser } from '../../src/services/tenancy/profile/operations.ts';
import { appOf } from '../support/apps.ts';
import { organization, person } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { signedInPerson, useToken } from '../support/tokens.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

const eventsOf = async (id: string) =>
  (await Event.findAll({ order: ['id'] })).filter(({ subject }) => subject?.id === id);

describe('§2.8 apps', () => {
  test('are registered with a client id and a secret that only the first answer shows, and can be revoked', async () => {
    const ada = await signedInPerson(idctl);
    const made = await ada.post('/api/v1/me/apps', { name: 'builder' });
    expect(made.status).toBe(201);
    const { clientSecret, ...view } = made.body;
    expect(view).toEqual({
      id: expect.any(String),
      name: 'builder',
      clientId: expect.stringMatching(/^app-[\w-]{22}$/),
      organization: null,
      createdAt: expect.any(String),
    });
    expect(clientSecret).toMatch(/^cos_secret_[0-9A-Za-z]{38}$/);
    expect((await ada.get('/api/v1/me/apps')).body).toEqual({ items: [view], nextCursor: null });
    expect((await ada.send('DELETE', `/api/v1/me/apps/${view.id}`)).status).toBe(204);
    expect((await ada.get('/api/v1/me/apps')).body.items).toEqual([]);
    expect((await ada.send('DELETE', `/api/v1/me/apps/${view.id}`)).body.code).toBe('not_found');
  });

  test('get a new secret under the same client id; the old secret is refused at once', async () => {
    const ada = await signedInPerson(idctl);
    const { body: old } = await ada.post('/api/v1/me/apps', { name: 'builder' });
    const made = await ada.post(`/api/v1/me/apps/${old.id}/regenerate`);
    expect(made.body).toEqual({ ...old, clientSecret: expect.stringMatching(/^cos_secret_/) });
    const mint = async (secret: string) => {
      const client = { client_id: old.clientId, client_secret: secret };
      return (
        await ada.form('/api/v1/oauth/token', { grant_type: 'client_credentials', ...client })
      ).status;
    };
    expect([await mint(old.clientSecret), await mint(made.body.clientSecret)]).toEqual([401, 200]);
    expect((await eventsOf(old.id)).map(({ kind }) => kind)).toContain('app.regenerated');
    const others = await (await signedInPerson(idctl)).post(`/api/v1/me/apps/${old.id}/regenerate`);
    expect(others.status).toBe(404);
  });

  test('cannot be registered without a name', async () => {
    const ada = await signedInPerson(idctl);
    expect(await ada.post('/api/v1/me/apps', {})).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'name' }] },
    });
  });

  test('P13 only the SHA-256 of the secret is in the database', async () => {
    const { id, clientSecret } = await appOf(idctl);
    const row = await OAuthApp.findByPk(id, { raw: true, rejectOnEmpty: true });
    expect(row.secretHash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(row)).not.toContain(clientSecret.slice(-20));
  });

  test('an account sees and revokes only its own apps; the operator can revoke any app by its id', async () => {
    const { id, user, ask } = await appOf(idctl);
    const eve = await signedInPerson(idctl);
    expect((await eve.get('/api/v1/me/apps')).body.items).toEqual([]);
    expect((await eve.send('DELETE', `/api/v1/me/apps/${id}`)).body.code).toBe('not_found');
    const elsewhere = { id, user: eve.id, keepTokens: false };
    await expect(revokeApp(idctl.operator(), elsewhere)).rejects.toMatchObject({
      code: 'not_found',
    });
    const as = idctl.as({
      kind: 'user',
      accountId: eve.id,
      name: 'Eve',
      via: 'session',
      sessionId: id,
    });
    await expect(registerApp(as, { user, name: 'x' })).rejects.toMatchObject({ code: 'forbidden' });
    expect((await ask()).status).toBe(200);
    await revokeApp(idctl.operator(), { id, keepTokens: false });
    expect((await ask()).status).toBe(401);
  });

  test('session_required: a bot token lists apps, but cannot register or revoke them', async () => {
    const { id, mint } = await appOf(idctl);
    const bot = idctl.client({ headers: { authorization: `Bearer ${await mint()}` } });
    expect((await bot.post('/api/v1/me/apps', { name: 'more' })).body.code).toBe(
      'session_required',
    );
    expect((await bot.send('DELETE', `/api/v1/me/apps/${id}`)).body.code).toBe('session_required');
    expect((await bot.get('/api/v1/me/apps')).body.items).toHaveLength(1);
  });

  test('I3 a session that ended during the request registers no app', async () => {
    const ada = await person(idctl);
    const sessionId = '0198c0de-0000-7000-8000-000000000000';
    const as = idctl.as({
      kind: 'user',
      accountId: ada.id,
      name: 'Ada',
      via: 'session',
      sessionId,
    });
    await expect(registerApp(as, { name: 'late' })).rejects.toMatchObject({
      code: 'invalid_credential',
    });
    expect(await OAuthApp.count({ where: { accountId: ada.id } })).toBe(0);
  });

  test('X5 registering an app, issuing a token and revoking the app write events with the actor and no secrets', async () => {
    const ada = await signedInPerson(idctl);
    const { id, clientId, clientSecret } = (await ada.post('/api/v1/me/apps', { name: 'builder' }))
      .body;
    const form = {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    };
    const { access_token } = (await idctl.client().form('/api/v1/oauth/token', form)).body;
    await ada.send('DELETE', `/api/v1/me/apps/${id}`);
    const events = (await Event.findAll({ order: ['id'] })).filter((event) =>
      JSON.stringify([event.subject, event.data]).includes(id),
    );
    expect(events).toMatchObject([
      { kind: 'app.registered', actor: { kind: 'user', id: ada.id }, data: { account: ada.id } },
      { kind: 'token.created', actor: { kind: 'app', id, name: 'builder' }, data: { app: id } },
      { kind: 'app.revoked', actor: { kind: 'user', id: ada.id }, data: { keepTokens: false } },
    ]);
    for (const secret of [clientSecret, access_token])
      expect(JSON.stringify(events)).not.toContain(secret);
  });
});

describe('§4.4 bot tokens', () => {
  test('the token acts as the owner and is named bot:<app name>, with its own kind', async () => {
    const { slug, owner } = await organization(idctl);
    const { ask } = await appOf(idctl, { user: owner.id });
    const { status, body } = await ask();
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.stringMatching(/^cos_pat_/),
        token_type: 'Bearer',
        expires_in: 86_400,
      },
    ]);
    const bot = idctl.client({ headers: { authorization: `Bearer ${body.access_token}` } });
    expect((await bot.get('/api/v1/me')).body.id).toBe(owner.id);
    expect((await bot.get(`/api/v1/orgs/${slug}/events`)).status).toBe(200);
    expect((await bot.get('/api/v1/me/tokens')).body.items).toMatchObject([
      { name: 'bot:builder', kind: 'bot', description: null },
    ]);
    expect((await bot.send('DELETE', `/api/v1/orgs/${slug}`)).body.code).toBe('session_required');
  });

  test.each(['post', 'basic'] as const)(
    'openid-client gets a token by the client-credentials grant, with client_secret_%s',
    async (by) => {
      const { clientId, clientSecret, user } = await appOf(idctl);
      const endpoint = {
        issuer: idctl.baseUrl,
        token_endpoint: `${idctl.baseUrl}/api/v1/oauth/token`,
      };
      const authentication =
        by === 'post' ? oidc.ClientSecretPost(clientSecret) : oidc.ClientSecretBasic(clientSecret);
      const config = new oidc.Configuration(endpoint, clientId, undefined, authentication);
      oidc.allowInsecureRequests(config);
      const tokens = await oidc.clientCredentialsGrant(config);
      expect((await useToken(idctl, tokens.access_token)).body.id).toBe(user);
      expect(tokens.expiresIn()).toBeGreaterThan(86_000);
    },
  );
});

describe('P14 the tokens of an app', () => {
  test('are refused after the app is revoked, and the app gets no more tokens', async () => {
    const { id, ask, mint } = await appOf(idctl);
    const token = await mint();
    await revokeApp(idctl.operator(), { id, keepTokens: false });
    expect((await useToken(idctl, token)).status).toBe(401);
    expect(await ask()).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  test('stay valid if the app is revoked with keepTokens, but the app gets no more tokens', async () => {
    const ada = await signedInPerson(idctl);
    const { id, mint, ask } = await appOf(idctl, { user: ada.id });
    const token = await mint();
    expect((await ada.send('DELETE', `/api/v1/me/apps/${id}?keepTokens=maybe`)).status).toBe(400);
    expect((await ada.send('DELETE', `/api/v1/me/apps/${id}?keepTokens=true`)).status).toBe(204);
    expect((await useToken(idctl, token)).status).toBe(200);
    expect((await ask()).status).toBe(401);
    expect((await eventsOf(id)).at(-1)).toMatchObject({
      kind: 'app.revoked',
      data: { keepTokens: true },
    });
  });

  test('P2 are refused while the owner is disabled; the app gets the same answer as an unknown app', async () => {
    const { user, ask, mint } = await appOf(idctl);
    const token = await mint();
    const nobody = await ask({ client_id: 'app-none' });
    await disableUser(idctl.operator(), { user });
    expect((await useToken(idctl, token)).status).toBe(401);
    const refused = await ask();
    expect([refused.status, refused.body]).toEqual([nobody.status, nobody.body]);
    await enableUser(idctl.operator(), { user });
    expect((await ask()).status).toBe(200);
  });

  test('O6 are refused after the account is deleted, which also deletes the app', async () => {
    const { id, user, ask, mint } = await appOf(idctl);
    const token = await mint();
    await deleteUser(idctl.operator(), { user });
    expect(await OAuthApp.findByPk(id)).toBeNull();
    expect((await useToken(idctl, token)).status).toBe(401);
    expect((await ask()).status).toBe(401);
  });

  test('I3 are refused after an organization reclaims an account whose address was never proved; the app is deleted', async () => {
    const { id: organizationId } = await organization(idctl);
    const { user, ask, mint } = await appOf(idctl);
    const token = await mint();
    await transaction(async () => {
      const account = await Account.findByPk(user, { rejectOnEmpty: true });
      await account.update({ emailProof: 'auto' });
      await reclaim(idctl.operator(), account, organizationId);
    });
    expect((await useToken(idctl, token)).status).toBe(401);
    expect((await ask()).status).toBe(401);
    expect(await OAuthApp.count({ where: { accountId: user } })).toBe(0);
  });
});

test('X5 repeated refusals of an app are one event with a count and the reason', async () => {
  const { id, ask } = await appOf(idctl);
  for (let n = 0; n < 3; n += 1) await ask({ client_secret: 'cos_secret_guess' });
  expect(await eventsOf(id)).toMatchObject([
    { kind: 'app.registered' },
    { kind: 'app.refused', data: { reason: 'wrong_secret', count: 3 } },
  ]);
});
