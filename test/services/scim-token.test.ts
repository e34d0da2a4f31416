import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Event } from '../../src/database/models/event.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { ScimRequest } from '../../src/database/models/scim-request.ts';
import { ScimToken } from '../../src/database/models/scim-token.ts';

import {
  listScimRequests,
  noteRequest,
  writeRequests,
} from '../../src/services/provisioning/scim/log.ts';
import { scimTokenUses, writeScimTokenUses } from '../../src/services/provisioning/scim/token.ts';
import { fresh, organization, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { clientOf, scimClient } from '../support/scim-client.ts';
import { sweepNow } from '../support/sweep.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

/** Creates an organization with a signed-in owner. `path` is the path of its SCIM token. */
async function owner() {
  const org = await organization(idctl);
  const client = await signedIn(idctl, org.owner.email);
  const path = `/api/v1/orgs/${org.slug}/scim-token`;
  return { org, client, path };
}

test('§2.4 at first there is no token; a new token is shown once, and later only its prefix and times', async () => {
  const { org, client, path } = await owner();
  const baseUrl = `${idctl.baseUrl}/scim/v2/orgs/${org.id}`;
  const none = { configured: false, prefix: null, createdAt: null, lastUsedAt: null, baseUrl };
  expect((await client.get(path)).body).toEqual(none);
  const made = await client.post(path);
  expect(made).toMatchObject({ status: 201, headers: { 'cache-control': 'no-store' } });
  const { token, ...view } = made.body;
  expect(token).toMatch(/^scim_\w{38}$/);
  expect(view).toEqual({
    ...none,
    configured: true,
    prefix: token.slice(0, 9),
    createdAt: expect.any(String),
  });
  expect((await client.get(path)).body).toEqual(view);
  expect((await clientOf(idctl, org, token).get('/Users')).status).toBe(200);
});

test('§2.4 a SCIM request without a token gets the same answer for a known and an unknown organization', async () => {
  const { org } = await owner();
  for (const id of [org.id, '0199c3a4-7c1e-7d55-8d1f-3f0e8a1b2c3d']) {
    const answer = await idctl.client().get(`/scim/v2/orgs/${id}/Users`);
    expect(answer).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': expect.stringMatching(/^Bearer/) },
    });
    expect(JSON.stringify(answer.body)).toContain('No token was sent.');
  }
});

test('P13 a token is stored only as a hash; no event and no logged request contains it', async () => {
  const { org, client, path } = await owner();
  const { token } = (await client.post(path)).body;
  await clientOf(idctl, org, token).get('/Users');
  await writeRequests(idctl.operator());
  const rows = [await ScimToken.findAll(), await Event.findAll(), await ScimRequest.findAll()];
  expect(JSON.stringify(rows)).not.toContain(token.slice(0, 20));
});

test('§3.5 a new token revokes the old one at once; a revoked token is refused', async () => {
  const { org, client, path } = await owner();
  const [first, second] = [
    (await client.post(path)).body.token,
    (await client.post(path)).body.token,
  ];
  const ask = async (token: string) => (await clientOf(idctl, org, token).get('/Users')).status;
  expect([await ask(first), await ask(second)]).toEqual([401, 200]);
  expect(await ScimToken.count({ where: { organizationId: org.id } })).toBe(1);
  expect((await client.send('DELETE', path)).status).toBe(204);
  expect(await ask(second)).toBe(401);
  expect((await client.send('DELETE', path)).status).toBe(404);
  const kinds = (await Event.findAll({ where: { organizationId: org.id }, order: ['id'] })).map(
    ({ kind }) => kind,
  );
  expect(kinds.filter((kind) => kind.startsWith('scim.'))).toEqual([
    'scim.token.created',
    'scim.token.rotated',
    'scim.token.revoked',
  ]);
});

test('§8 after several concurrent requests for a token, exactly one token is active', async () => {
  const { org, client, path } = await owner();
  const answers = await Promise.all(Array.from({ length: 8 }, () => client.post(path)));
  const statuses = await Promise.all(
    answers.map(async ({ body }) => (await clientOf(idctl, org, body.token).get('/Users')).status),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
});

test('§2.4 a job writes the last use of the token to the minute; a request does not write it', async () => {
  const client = await scimClient(idctl);
  const lastUsed = async () => (await ScimToken.findByPk(client.org.id))?.lastUsedAt?.getTime();
  await client.get('/Users');
  expect(await lastUsed()).toBeUndefined();
  await writeScimTokenUses(idctl.operator());
  const first = await lastUsed();
  expect(first).toBeGreaterThan(Date.now() - 60_000);
  await client.get('/Users');
  expect(scimTokenUses(idctl.app).size).toBe(0);
  idctl.wait(61);
  await client.get('/Users');
  await writeScimTokenUses(idctl.operator());
  expect(await lastUsed()).toBeGreaterThan(Number(first));
  await client.send('GET', '/Users', undefined, { authorization: 'Bearer scim_none' });
  expect(scimTokenUses(idctl.app).size).toBe(0);
});

test('the SCIM log has the last requests, newest first, with the reason of a refusal, and no bodies', async () => {
  const client = await scimClient(idctl);
  const userName = `${fresh('ada')}@elsewhere.test`;
  await client.create({ userName, password: 'a secret of theirs' });
  await client.send('POST', '/Users', { userName });
  await client.get('/Users?filter=nonsense');
  await client.send('GET', '/Users', undefined, { authorization: 'Bearer scim_old' });
  const admin = await signedIn(idctl, client.org.owner.email);
  const { body } = await admin.get(`/api/v1/orgs/${client.org.slug}/scim-log`);
  const path = `${client.base}/Users`;
  expect(body.items).toMatchObject([
    { method: 'GET', path, status: 401, reason: expect.stringContaining('token') },
    { method: 'GET', path, status: 400, reason: expect.stringMatching(/^invalidFilter: /) },
    { method: 'POST', path, status: 409, reason: expect.stringMatching(/^uniqueness: /) },
    { method: 'POST', path, status: 201, reason: null },
  ]);
  expect(JSON.stringify(body)).not.toMatch(/a secret of theirs|scim_/);
});

test('the SCIM log keeps the order of requests of one millisecond, with and without a valid token', async () => {
  const { id: organizationId, slug } = await organization(idctl);
  const { now: at } = idctl.operator();
  const statuses = [400, 401, 200, 401, 409];
  for (const status of statuses)
    noteRequest(idctl.app, {
      organizationId,
      at,
      method: 'GET',
      path: '/x',
      status,
      reason: null,
    });
  const { items } = await listScimRequests(idctl.operator(), { org: slug, limit: 50 });
  expect(items.map(({ status }) => status)).toEqual(statuses.toReversed());
});

test('the SCIM log accepts requests with any path, and still stores those of other clients', async () => {
  const [strange, usual] = [await scimClient(idctl), await scimClient(idctl)];
  await strange.get('/Users%00');
  await strange.get(`/${'😀'.repeat(200)}`);
  await usual.get('/Users');
  await writeRequests(idctl.operator());
  const count = (client: typeof usual) =>
    ScimRequest.count({ where: { organizationId: client.org.id } });
  expect([await count(strange), await count(usual)]).toEqual([2, 1]);
});

test('the SCIM log keeps 500 requests, 50 more without a valid token, for 7 days, and none of unknown organizations', async () => {
  const { id: organizationId } = await organization(idctl);
  const note = (status: number, whose = organizationId) =>
    noteRequest(idctl.app, {
      organizationId: whose,
      at: idctl.operator().now,
      method: 'GET',
      path: '/x',
      status,
      reason: 'r'.repeat(5000),
    });
  for (let round = 0; round < 2; round += 1) {
    for (let n = 0; n < 300; n += 1) note(200);
    // Requests for unknown organizations push out none of the client's, and cause no transaction.
    for (let n = 0; n < 3000; n += 1) note(401, crypto.randomUUID());
    for (let n = 0; n < 600; n += 1) note(401);
    const written = vi.spyOn(Organization, 'count');
    await writeRequests(idctl.operator());
    expect(written).toHaveBeenCalledOnce();
    written.mockRestore();
  }
  const count = (where: object) => ScimRequest.count({ where: { organizationId, ...where } });
  expect([await count({ status: 200 }), await count({ status: 401 })]).toEqual([500, 50]);
  expect((await ScimRequest.findOne({ where: { organizationId } }))?.reason).toHaveLength(300);
  idctl.wait(8 * 86_400);
  await sweepNow(idctl.operator());
  expect(await count({})).toBe(0);
});

test('scim-users shows each User’s address, externalId, whether it is active, and its last change', async () => {
  const client = await scimClient(idctl);
  const userName = `${fresh('ada')}@elsewhere.test`;
  const { id, meta } = await client.create({ userName, externalId: 'x1' });
  const admin = await signedIn(idctl, client.org.owner.email);
  const { body } = await admin.get(`/api/v1/orgs/${client.org.slug}/scim-users?limit=1`);
  expect(body.items).toMatchObject([
    { userName: client.org.owner.email, externalId: null, active: true },
  ]);
  const next = await admin.get(
    `/api/v1/orgs/${client.org.slug}/scim-users?cursor=${body.nextCursor}`,
  );
  expect(next.body).toEqual({
    items: [
      {
        id,
        userName,
        externalId: 'x1',
        email: userName,
        active: true,
        updatedAt: meta.lastModified,
      },
    ],
    nextCursor: null,
  });
});
