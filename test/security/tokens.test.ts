import { createHash, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { newSecret } from '../../src/crypto/secret.ts';
import { directOf } from '../../src/database/direct.ts';
import { AccessToken } from '../../src/database/models/access-token.ts';
import { Account } from '../../src/database/models/account.ts';
import { servedDatabase } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { createServer } from '../../src/http/server.ts';
import { surface } from '../../src/http/surface.ts';
import { startJobs } from '../../src/jobs/scheduler.ts';
import { createLog } from '../../src/log/log.ts';
import { authenticate } from '../../src/services/people/authentication/authenticate.ts';
import { regenerateToken } from '../../src/services/people/tokens/operations.ts';
import { tokenUses, writeTokenUses } from '../../src/services/people/tokens/token.ts';
import { disableUser, enableUser } from '../../src/services/people/users/operations.ts';
import { reclaim } from '../../src/services/tenancy/identities/reclaim.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { changeMemberRole } from '../../src/services/tenancy/memberships/operations.ts';
import { organization, person, signedIn } from '../support/builders.ts';
import { createClient } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { signedInPerson, tokenOf, useToken } from '../support/tokens.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());
afterEach(() => {
  vi.restoreAllMocks();
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Stores a bot token of the account, without an app. */
async function botTokenOf(accountId: string) {
  const { value, prefix, hash } = newSecret('cos_pat_');
  const row = {
    accountId,
    kind: 'bot' as const,
    name: 'bot:builder',
    description: null,
    prefix,
    hash,
  };
  const id = randomUUID();
  await transaction(() =>
    AccessToken.create({ ...row, id, createdAt: new Date(), expiresAt: null }),
  );
  return { id, value };
}

describe('P2 every request reads the account', () => {
  test("a disabled owner's token is refused at the next request, and works again once the account is enabled", async () => {
    const { user, use } = await tokenOf(idctl);
    expect((await use()).status).toBe(200);
    await disableUser(idctl.operator(), { user });
    expect(await use()).toMatchObject({ status: 401, body: { code: 'invalid_credential' } });
    await enableUser(idctl.operator(), { user });
    expect((await use()).status).toBe(200);
  });

  test('after a demotion, the account’s token has only the new role', async () => {
    const { owner, slug } = await organization(idctl);
    const heir = await person(idctl);
    const { token } = await tokenOf(idctl, { user: owner.id });
    const path = `/api/v1/orgs/${slug}/domains`;
    expect((await idctl.client().get(path, bearer(token))).status).toBe(200);
    await addMember(idctl.operator(), { org: slug, email: heir.email ?? '', role: 'owner' });
    await changeMemberRole(idctl.operator(), { org: slug, user: owner.id, role: 'member' });
    expect((await idctl.client().get(path, bearer(token))).status).toBe(403);
  });
});

describe('P3 the first credential present decides', () => {
  test('§5.1 Bearer decides before x-api-key, and x-api-key before the cookie, for tokens as for sessions', async () => {
    const [ada, bob] = [await tokenOf(idctl), await tokenOf(idctl)];
    const eve = await signedInPerson(idctl);
    const cookie = `access_token=${eve.accessToken}`;
    const asked = async (headers: Record<string, string>) =>
      (await idctl.client().get('/api/v1/me', headers)).body.id;
    expect(await asked({ ...bearer(ada.token), 'x-api-key': bob.token, cookie })).toBe(ada.user);
    expect(await asked({ ...bearer(eve.accessToken), 'x-api-key': bob.token })).toBe(eve.id);
    expect(await asked({ 'x-api-key': bob.token, cookie })).toBe(bob.user);
    expect(await asked({ authorization: 'Basic eDp5', 'x-api-key': bob.token, cookie })).toBe(
      bob.user,
    );
    expect(await asked({ cookie: `access_token=${ada.token}` })).toBe(ada.user);
  });

  test('an invalid token is refused with 401, whatever other credentials the request has', async () => {
    const { token } = await tokenOf(idctl);
    const eve = await signedInPerson(idctl);
    const mistyped = token.slice(0, 20) + (token[20] === 'a' ? 'b' : 'a') + token.slice(21);
    const unknown = newSecret('cos_pat_').value;
    const wrong = [
      'cos_pat_',
      token.slice(0, -1),
      `${token}x`,
      mistyped,
      unknown,
      `cos_pat_${eve.accessToken}`,
    ];
    for (const value of wrong) {
      for (const headers of [
        { ...bearer(value), 'x-api-key': token, cookie: `access_token=${eve.accessToken}` },
        { 'x-api-key': value, cookie: `access_token=${eve.accessToken}` },
        { cookie: `access_token=${value}` },
      ]) {
        const answer = await idctl.client().get('/api/v1/me', headers);
        expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_credential' } });
        expect(answer.headers['www-authenticate']).toContain('invalid_token');
      }
    }
  });

  test('P13 a mistyped token is refused without a query, and a valid one costs one read', async () => {
    const { token } = await tokenOf(idctl);
    const queries = vi.spyOn(directOf(servedDatabase()), 'read');
    const ctx = idctl.as({ kind: 'anonymous' });
    await expect(authenticate(ctx, `${token.slice(0, -1)}!`)).rejects.toMatchObject({
      code: 'invalid_credential',
    });
    expect(queries).toHaveBeenCalledTimes(0);
    expect(await authenticate(ctx, token)).toMatchObject({ kind: 'user', via: 'pat' });
    expect(queries).toHaveBeenCalledTimes(1);
  });
});

describe('P13 the value', () => {
  test('only its SHA-256 and its first 12 characters are in the database', async () => {
    const { id, token } = await tokenOf(idctl);
    const models = Object.values(Account.sequelize?.models ?? {});
    const rows = JSON.stringify(
      await Promise.all(models.map((model) => model.findAll({ raw: true }))),
    );
    expect(rows).toContain(id);
    expect(rows).toContain(createHash('sha256').update(token).digest('hex'));
    expect(rows).not.toContain(token);
    expect(rows).not.toContain(token.slice(12));
  });

  test('X4 the token is never in the log, whether made, used, mistyped or regenerated', async () => {
    const lines: string[] = [];
    const log = createLog({ log: { level: 'debug' } }, { write: (line) => lines.push(line) });
    const server = createServer({ ...idctl.app, log }, surface);
    await server.listen('127.0.0.1:0');
    const client = createClient(server.url ?? '');
    const eve = await signedInPerson(idctl);
    const made = await client.post('/api/v1/me/tokens', { name: 'ci' }, bearer(eve.accessToken));
    const { token, id } = made.body;
    const mistyped = token.replace('cos_pat_', 'cos_pat_x');
    for (const value of [token, mistyped]) {
      await client.get('/api/v1/me', bearer(value));
      await client.get('/api/v1/me', { 'x-api-key': value });
    }
    const renewed = await client.post(
      `/api/v1/me/tokens/${id}/regenerate`,
      undefined,
      bearer(eve.accessToken),
    );
    await server.close();
    expect(lines.length).toBeGreaterThanOrEqual(6);
    for (const value of [token, renewed.body.token])
      expect(lines.join()).not.toContain(value.slice(12));
  });
});

describe('P13 regenerating is atomic', () => {
  test('under load the old value never works after the answer, and the new one always does', async () => {
    const eve = await signedInPerson(idctl);
    const { id, token } = (await eve.post('/api/v1/me/tokens', { name: 'ci' })).body;
    const client = idctl.client();
    let current: string = token;
    for (let round = 0; round < 8; round += 1) {
      const old = current;
      let answered = false;
      let over = false;
      const late: number[] = [];
      const hammer = async () => {
        while (!over) {
          const after = answered;
          const { status } = await client.get('/api/v1/me', bearer(old));
          if (after) late.push(status);
        }
      };
      const hammers = Array.from({ length: 8 }, hammer);
      current = (await eve.post(`/api/v1/me/tokens/${id}/regenerate`)).body.token;
      answered = true;
      expect((await useToken(idctl, current)).status).toBe(200);
      await expect.poll(() => late.length).toBeGreaterThanOrEqual(16);
      over = true;
      await Promise.all(hammers);
      expect(new Set(late)).toEqual(new Set([401]));
    }
  });

  test('if two requests regenerate a token at the same moment, one succeeds, and its value works', async () => {
    const { id } = await tokenOf(idctl);
    const read = vi.spyOn(AccessToken, 'findOne');
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // Holds the row, so that both requests have read it before either can write.
    const holder = transaction(async () => {
      await AccessToken.update({ name: 'held' }, { where: { id } });
      held.resolve();
      await released.promise;
    });
    await held.promise;
    const both = Promise.allSettled([1, 2].map(() => regenerateToken(idctl.operator(), { id })));
    await expect
      .poll(() => read.mock.settledResults.map(({ type }) => type))
      .toEqual(Array(2).fill('fulfilled'));
    released.resolve();
    await holder;
    const results = await both;
    const values = results.flatMap((result) =>
      result.status === 'fulfilled' ? [result.value.token] : [],
    );
    expect(values).toHaveLength(1);
    expect((await useToken(idctl, values[0] ?? '')).status).toBe(200);
    const refused = results.find(({ status }) => status === 'rejected');
    expect(refused).toMatchObject({ reason: { code: 'conflict' } });
  });
});

describe('P13 last use', () => {
  const lastUse = async (id: string) =>
    (await AccessToken.findByPk(id, { rejectOnEmpty: true })).lastUsedAt;
  const clock = () => writeTokenUses(idctl.as({ kind: 'system', name: 'test' }));

  test('is written by a job, not by the request, and at most once a minute', async () => {
    const { id, use } = await tokenOf(idctl);
    await use();
    expect(await lastUse(id)).toBeNull();
    await clock();
    const first = await lastUse(id);
    expect(first).toBeInstanceOf(Date);
    idctl.wait(30);
    await use();
    expect(tokenUses(idctl.app).size).toBe(0);
    await clock();
    expect(await lastUse(id)).toEqual(first);
    idctl.wait(31);
    await use();
    await clock();
    expect(Number(await lastUse(id)) - Number(first)).toBeGreaterThan(60_000);
    expect(tokenUses(idctl.app).size).toBe(0);
  });

  test('is not written again if another daemon wrote it this minute', async () => {
    const { id, use } = await tokenOf(idctl);
    await use();
    const other = new Date(Date.parse(String(tokenUses(idctl.app).get(id)?.toISOString())) + 1000);
    await transaction(() => AccessToken.update({ lastUsedAt: other }, { where: { id } }));
    await clock();
    expect(await lastUse(id)).toEqual(other);
  });

  test('fails no request, and is written later if the database refused it', async () => {
    const { id, use } = await tokenOf(idctl);
    expect((await use()).status).toBe(200);
    const update = vi
      .spyOn(AccessToken, 'update')
      .mockRejectedValueOnce(new Error('database gone'));
    await expect(clock()).rejects.toThrow('database gone');
    update.mockRestore();
    expect((await use()).status).toBe(200);
    await clock();
    expect(await lastUse(id)).toBeInstanceOf(Date);
  });

  test('is written when the daemon stops, and a token revoked meanwhile causes no error', async () => {
    const stop = startJobs(idctl.app);
    const { id, use } = await tokenOf(idctl);
    const gone = await tokenOf(idctl);
    await Promise.all([use(), gone.use()]);
    await transaction(() => AccessToken.destroy({ where: { id: gone.id } }));
    await stop();
    expect(await lastUse(id)).toBeInstanceOf(Date);
    expect(tokenUses(idctl.app).size).toBe(0);
  });
});

describe('P14 bot tokens', () => {
  test.each(['bot:builder', 'BOT:x', ' bot:x', 'ｂｏｔ：x', '\u200bbot:x', 'b\u00adot:x'])(
    'no person can take the name %j',
    async (name) => {
      const eve = await signedInPerson(idctl);
      const answer = await eve.post('/api/v1/me/tokens', { name });
      expect([answer.status, answer.body.errors[0].path]).toEqual([400, 'name']);
    },
  );

  test('are listed with their kind, act as the owner, can be revoked but not regenerated', async () => {
    const eve = await signedInPerson(idctl);
    const { id, value } = await botTokenOf(eve.id);
    expect((await useToken(idctl, value)).body).toMatchObject({ id: eve.id });
    const listed = await eve.get('/api/v1/me/tokens');
    expect(listed.body.items).toMatchObject([{ id, kind: 'bot', name: 'bot:builder' }]);
    const renewed = await eve.post(`/api/v1/me/tokens/${id}/regenerate`);
    expect(renewed).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect((await eve.send('DELETE', `/api/v1/me/tokens/${id}`)).status).toBe(204);
    expect((await useToken(idctl, value)).status).toBe(401);
  });
});

describe('interface page: a token cannot do everything that its owner can', () => {
  const refused = { status: 403, body: { code: 'session_required' } };

  test('session_required: no token makes, regenerates or revokes tokens, even itself; it can list them', async () => {
    const { id, user, token } = await tokenOf(idctl);
    for (const value of [token, (await botTokenOf(user)).value]) {
      const client = createClient(idctl.baseUrl, { headers: bearer(value) });
      expect(await client.post('/api/v1/me/tokens', { name: 'more' })).toMatchObject(refused);
      expect(await client.post(`/api/v1/me/tokens/${id}/regenerate`)).toMatchObject(refused);
      expect(await client.send('DELETE', `/api/v1/me/tokens/${id}`)).toMatchObject(refused);
      expect((await client.get('/api/v1/me/tokens')).status).toBe(200);
    }
    expect((await useToken(idctl, token)).status).toBe(200);
  });

  test('session_required: with tokens.manageCredentials a token makes tokens, but deletes no organization and does not make an owner', async () => {
    const { owner, slug } = await organization(idctl);
    const { id, token } = await tokenOf(idctl, { user: owner.id });
    const config = { ...idctl.app.config, tokens: { manageCredentials: 'on' as const } };
    const server = createServer({ ...idctl.app, config }, surface);
    await server.listen('127.0.0.1:0');
    const client = createClient(server.url ?? '', { headers: bearer(token) });
    expect((await client.post('/api/v1/me/tokens', { name: 'more' })).status).toBe(201);
    expect(await client.send('DELETE', `/api/v1/orgs/${slug}`)).toMatchObject(refused);
    const grant = { email: (await person(idctl)).email, role: 'owner' };
    expect(await client.post(`/api/v1/orgs/${slug}/members`, grant)).toMatchObject(refused);
    expect((await client.send('DELETE', `/api/v1/me/tokens/${id}`)).status).toBe(204);
    await server.close();
    const session = await signedIn(idctl, owner.email);
    expect((await session.send('DELETE', `/api/v1/orgs/${slug}`)).status).toBe(204);
  });
});

test('I3 the tokens of a holder whose address was never proved are revoked when an organization reclaims the account', async () => {
  const org = await organization(idctl);
  const { user, use } = await tokenOf(idctl);
  await transaction(async () => {
    const account = await Account.findByPk(user, { rejectOnEmpty: true });
    await account.update({ emailProof: 'auto' });
    await reclaim(idctl.operator(), account, org.id);
  });
  expect((await use()).status).toBe(401);
});
