import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashOfSecret } from '../../src/crypto/secret.ts';
import { Client } from '../../src/database/models/client.ts';
import { Event } from '../../src/database/models/event.ts';
import { transaction } from '../../src/database/transaction.ts';
import { disableUser } from '../../src/services/people/users/operations.ts';
import type { Barred } from '../../src/services/tenancy/clients/admits.ts';
import { barredFrom } from '../../src/services/tenancy/clients/admits.ts';
import { recordBarred, rowIdOf } from '../../src/services/tenancy/clients/client.ts';
import { changeClient, createClient } from '../../src/services/tenancy/clients/operations.ts';
import { addDomain, assertDomain } from '../../src/services/tenancy/domains/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { deleteOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { putProjectMember } from '../../src/services/tenancy/projects/members.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { fresh, organization, person, signedIn, verifiedDomain } from '../support/builders.ts';
import type { Client as HttpClient } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
});
afterAll(() => idctl.close());

const find = (clientId: string) => Client.findByPk(rowIdOf(clientId) ?? '');
const change = (who: HttpClient, path: string, body: object) => who.send('PATCH', path, { body });
const remove = (who: HttpClient, path: string) => who.send('DELETE', path);

/** An organization with a verified domain, and its owner signed in. */
async function company() {
  const org = await organization(idctl);
  const domain = await verifiedDomain(idctl, org.slug);
  const owner = await signedIn(idctl, org.owner.email);
  return { org: org.slug, id: org.id, domain, owner, at: `/api/v1/orgs/${org.slug}/clients` };
}

const wiki = { name: 'Wiki', redirectUris: ['https://wiki.acme.test/callback'] };

const make = (org: string, given: object = {}) =>
  createClient(idctl.operator(), createClient.input.parse({ ...wiki, ...given, org }));

test('O12 P13 a client is created with a secret that is shown once and stored as a hash', async () => {
  const { owner, at, id } = await company();
  const { status, body } = await owner.post(at, wiki);
  expect([status, body]).toEqual([
    201,
    {
      clientId: expect.stringMatching(/^client-[0-9a-f-]{36}$/),
      issuer: idctl.baseUrl,
      discoveryUrl: `${idctl.baseUrl}/.well-known/openid-configuration`,
      ...wiki,
      homeUrl: null,
      postLogoutRedirectUris: [],
      backchannelLogoutUri: null,
      forwardAuthOrigins: [],
      public: false,
      pkce: true,
      idTokenAlg: 'RS256',
      project: null,
      role: null,
      createdAt: expect.any(String),
      clientSecret: expect.stringMatching(/^cos_secret_\w{38}$/),
    },
  ]);
  const { clientSecret, ...shown } = body;
  const stored = await find(body.clientId);
  expect(stored?.secretHash).toBe(hashOfSecret('cos_secret_', clientSecret));
  expect((await owner.get(`${at}/${body.clientId}`)).body).toEqual(shown);
  expect((await owner.get(`${at}/Wiki`)).body).toEqual(shown);
  expect((await owner.get(at)).body).toEqual({ items: [shown], nextCursor: null });
  expect((await owner.post(at, wiki)).body.code).toBe('already_exists');
  const events = await Event.findAll({ where: { organizationId: id, kind: 'client.created' } });
  expect(events.map(({ subject }) => subject)).toEqual([
    { type: 'client', id: body.clientId, name: 'Wiki' },
  ]);
});

test('interface page: a changed setting replaces the stored one, and the others stay', async () => {
  const { org, owner, at, id } = await company();
  const { slug: project } = await createProject(idctl.operator(), { org, name: fresh('web') });
  await make(org);
  const { body } = await change(owner, `${at}/Wiki`, { project, idTokenAlg: 'EdDSA' });
  expect(body).toMatchObject({ ...wiki, project, role: 'viewer', idTokenAlg: 'EdDSA' });
  const further = await change(owner, `${at}/Wiki`, { project: null, pkce: false });
  expect(further.body).toMatchObject({ project: null, role: null, pkce: false });
  expect((await change(owner, `${at}/Wiki`, { pkce: false })).status).toBe(200);
  const events = await Event.findAll({
    where: { organizationId: id, kind: 'client.updated' },
    order: ['id'],
  });
  expect(events.map(({ data }) => data)).toEqual([
    { fields: ['idTokenAlg', 'project', 'role'] },
    { fields: ['pkce', 'project', 'role'] },
  ]);
});

test('interface page: an entry is added to a list or removed from it, and the others stay', async () => {
  const { org, owner, at, domain } = await company();
  await make(org);
  const [first = ''] = wiki.redirectUris;
  const [second, app] = ['https://wiki.acme.test/second', `https://app.${domain}`];
  const added = { addRedirectUris: [first, second], addForwardAuthOrigins: [app] };
  const with2 = { redirectUris: [first, second], forwardAuthOrigins: [app] };
  expect((await change(owner, `${at}/Wiki`, added)).body).toMatchObject(with2);
  // To add what is there is not an error.
  expect((await change(owner, `${at}/Wiki`, added)).body).toMatchObject(with2);
  const removed = { removeRedirectUris: [first], removeForwardAuthOrigins: [app] };
  const rest = { redirectUris: [second], forwardAuthOrigins: [] };
  expect((await change(owner, `${at}/Wiki`, removed)).body).toMatchObject(rest);
  expect((await change(owner, `${at}/Wiki`, removed)).body).toMatchObject({
    code: 'conflict',
    detail: `Wiki has no redirect URI ${first}.`,
    hint: `It has: ${second}.`,
  });
  const both = { redirectUris: [first], addRedirectUris: [second] };
  const refused = await change(owner, `${at}/Wiki`, both);
  expect([refused.status, refused.body.errors[0].path]).toEqual([400, 'redirectUris']);
  // The last entry cannot be removed, unless there is an origin for forward auth.
  expect((await change(owner, `${at}/Wiki`, { removeRedirectUris: [second] })).status).toBe(400);
  const exchanged = { removeRedirectUris: [second], addRedirectUris: [first] };
  expect((await change(owner, `${at}/Wiki`, exchanged)).body).toMatchObject(wiki);
});

test('O12 P13 a rotated secret replaces the old one at once; a public client has none', async () => {
  const { org, owner, at } = await company();
  const { clientId, clientSecret } = await make(org);
  const { body } = await owner.post(`${at}/${clientId}/rotate`);
  expect(body.clientSecret).not.toBe(clientSecret);
  const hash = async () => (await find(clientId))?.secretHash;
  expect(await hash()).toBe(hashOfSecret('cos_secret_', body.clientSecret));
  expect((await change(owner, `${at}/Wiki`, { public: true })).body).toMatchObject({
    public: true,
  });
  expect(await hash()).toBeNull();
  expect((await owner.post(`${at}/Wiki/rotate`)).body.code).toBe('conflict');
  expect((await change(owner, `${at}/Wiki`, { public: false })).body).not.toHaveProperty(
    'clientSecret',
  );
  // The client has a new secret, which no answer has shown.
  expect(await hash()).not.toBe(hashOfSecret('cos_secret_', body.clientSecret));
  expect((await remove(owner, `${at}/Wiki`)).status).toBe(204);
  expect((await owner.get(`${at}/${clientId}`)).status).toBe(404);
});

test('O12 a client of forward auth alone has no secret, and is not public when it gets a redirect URI', async () => {
  const { org, owner, at } = await company();
  const origin = `https://${fresh('app')}.acme.test`;
  const made = await make(org, { redirectUris: [], forwardAuthOrigins: [origin] });
  expect([made.clientSecret, made.public]).toEqual([null, false]);
  const path = `${at}/${made.clientId}`;
  const hash = async () => (await find(made.clientId))?.secretHash;
  expect(await hash()).toBeNull();
  const refused = await owner.post(`${path}/rotate`);
  expect([refused.status, refused.body.detail]).toEqual([
    409,
    'Wiki is only for forward auth: it has no secret.',
  ]);
  const grown = await change(owner, path, { redirectUris: wiki.redirectUris });
  expect([grown.status, grown.body.public]).toEqual([200, false]);
  expect(await hash()).toMatch(/./);
  expect((await owner.post(`${path}/rotate`)).status).toBe(200);
  expect((await change(owner, path, { redirectUris: [] })).body.public).toBe(false);
  expect(await hash()).toBeNull();
});

test('a suspended client is no longer suspended once it is public, because it has no secret', async () => {
  const { org, owner, at } = await company();
  const { clientId } = await make(org);
  const id = (await find(clientId))?.id;
  await transaction(() => Client.update({ suspendedAt: new Date() }, { where: { id } }));
  expect((await owner.get(`${at}/Wiki`)).body).toHaveProperty('suspendedAt');
  const other = await change(owner, `${at}/Wiki`, { pkce: false });
  expect(other.body).toMatchObject({ pkce: false, suspendedAt: expect.any(String) });
  const changed = await change(owner, `${at}/Wiki`, { public: true });
  expect(changed.body).not.toHaveProperty('suspendedAt');
});

test.each([
  ['http://wiki.acme.test/cb', 'https:// address'],
  ['https://wiki.acme.test/cb#here', 'no fragment'],
  ['https://*.acme.test/cb', 'without a wildcard'],
  ['https://wiki.acme.test/*', 'without a wildcard'],
  ['https://ada:pw@wiki.acme.test/cb', 'no user name'],
  ['https://Wiki.acme.test/cb', 'spelled https://wiki.acme.test/cb'],
  ['https://wiki.acme.test/a/../cb', 'spelled https://wiki.acme.test/cb'],
  ['https://wiki.acme.test\\@evil.test/', 'spelled'],
  ['javascript:alert(1)', 'https:// address'],
  ['http://localhost.evil.test/cb', 'https:// address'],
  ['/cb', 'https:// address'],
  ['https://a;frame-ancestors/', 'a plain host name'],
  ["https://a'b.test/", 'a plain host name'],
])('O12 the redirect URI %s is refused', async (uri, words) => {
  const { owner, at } = await company();
  const { status, body } = await owner.post(at, { name: 'Wiki', redirectUris: [uri] });
  expect([status, body.errors?.[0]?.path]).toEqual([400, 'redirectUris.0']);
  expect(body.errors[0].message).toContain(words);
});

test('interface page: invalid or contradictory settings are refused, and the error names the field', async () => {
  const { owner, at } = await company();
  const faultOf = async (given: object) => (await owner.post(at, given)).body.errors?.[0]?.path;
  expect(await faultOf({ name: 'Wiki' })).toBe('redirectUris');
  expect(await faultOf({ ...wiki, public: true, pkce: false })).toBe('pkce');
  expect(await faultOf({ ...wiki, role: 'member' })).toBe('role');
  expect(await faultOf({ ...wiki, backchannelLogoutUri: 'https://10.0.0.1/out' })).toBe(
    'backchannelLogoutUri',
  );
  expect(await faultOf({ ...wiki, name: 'client-0198c0de-0000-7000-8000-000000000000' })).toBe(
    'name',
  );
  const local = ['http://localhost:3000/cb', 'http://127.0.0.1/cb', 'http://app.localhost/'];
  expect((await owner.post(at, { ...wiki, redirectUris: local })).status).toBe(201);
});

test('O12 a client admits active members of its organization; if it has a project, only members with at least the required project role', async () => {
  const { org, id: organizationId } = await company();
  const { slug: project, id: projectId } = await createProject(idctl.operator(), {
    org,
    name: fresh('web'),
  });
  const ada = await person(idctl);
  const who = { org, user: ada.id };
  const open = { organizationId, projectId: null, role: null };
  const closed = { organizationId, projectId, role: 'member' } as const;
  const judged = () =>
    Promise.all([open, closed].map((client) => barredFrom(idctl.operator(), client, ada.id)));
  expect(await judged()).toEqual(['not_a_member', 'not_a_member']);
  await addMember(idctl.operator(), { org, email: ada.email ?? '', role: 'member' });
  expect(await judged()).toEqual([null, 'project_role_missing']);
  await putProjectMember(idctl.operator(), { ...who, project, role: 'commenter' });
  expect(await judged()).toEqual([null, 'project_role_missing']);
  await putProjectMember(idctl.operator(), { ...who, project, role: 'admin' });
  expect(await judged()).toEqual([null, null]);
  await disableUser(idctl.operator(), { user: ada.id });
  expect(await judged()).toEqual(['account_disabled', 'account_disabled']);
  await removeMember(idctl.operator(), who);
  expect(await judged()).toEqual(['not_a_member', 'not_a_member']);
});

test('X5 refusals for one reason within 15 minutes are one event with a count; for not_a_member, it does not name the person', async () => {
  const { org, id: organizationId } = await company();
  const client = await find((await make(org)).clientId);
  if (client === null) throw new Error('the client is gone');
  const ada = await person(idctl);
  const bar = (reason: Barred) =>
    recordBarred(idctl.as({ kind: 'anonymous' }), client, { accountId: ada.id, reason });
  await bar('not_a_member');
  await bar('not_a_member');
  await bar('project_role_missing');
  await bar('account_disabled');
  const events = await Event.findAll({
    where: { organizationId, kind: 'client.refused' },
    order: ['id'],
  });
  expect(events.map(({ data }) => data)).toMatchObject([
    { reason: 'not_a_member', count: 2 },
    { reason: 'project_role_missing', count: 1, account: ada.id },
    { reason: 'account_disabled', count: 1, account: ada.id },
  ]);
  expect(JSON.stringify(events[0])).not.toContain(ada.id);
});

test('O12 a project that a client requires cannot be deleted, but its organization can', async () => {
  const { org, id, owner, at } = await company();
  const { slug: project } = await createProject(idctl.operator(), { org, name: fresh('web') });
  await make(org, { project });
  const path = `/api/v1/orgs/${org}/projects/${project}`;
  const { status, body } = await remove(owner, path);
  expect([status, body.detail]).toEqual([409, expect.stringContaining('Wiki')]);
  await change(owner, `${at}/Wiki`, { project: null });
  expect((await remove(owner, path)).status).toBe(204);
  const { slug: other } = await createProject(idctl.operator(), { org, name: fresh('web') });
  await change(owner, `${at}/Wiki`, { project: other });
  await deleteOrganization(idctl.operator(), { org });
  expect(await Client.count({ where: { organizationId: id } })).toBe(0);
});

const origins = (...forwardAuthOrigins: string[]) => ({ forwardAuthOrigins });

test('O12 an admin registers an origin only on or under a verified domain; the operator can register others', async () => {
  const { org, domain, owner, at } = await company();
  await make(org, { name: 'Mine', ...origins(`https://grafana.${domain}`) });
  const post = (origin: string) => owner.post(at, { name: fresh('app'), ...origins(origin) });
  expect((await post(`https://${domain}`)).status).toBe(201);
  expect((await post(`https://a.b.${domain}:8443/`)).body.forwardAuthOrigins).toEqual([
    `https://a.b.${domain}:8443`,
  ]);
  expect((await post('https://elsewhere.test')).body.code).toBe('domain_unverified');
  expect((await post(`https://not${domain}`)).body.code).toBe('domain_unverified');
  expect((await post(`http://grafana.${domain}`)).status).toBe(400);
  expect((await post(`https://*.${domain}`)).status).toBe(400);
  expect((await post(`https://${domain}.`)).status).toBe(400);
  expect((await post(`https://x.${domain}/path`)).status).toBe(400);
  // An admin can keep an origin that the operator registered.
  await make(org, { name: 'Theirs', ...origins('https://elsewhere.test') });
  const kept = await change(owner, `${at}/Theirs`, {
    ...origins('https://elsewhere.test', `https://kept.${domain}`),
  });
  expect(kept.status).toBe(200);
});

test('O12 an origin belongs to one client of the instance; a second client gets 409', async () => {
  const { org, domain, owner, at } = await company();
  const origin = `https://app.${domain}`;
  await make(org, { name: 'One', ...origins(origin) });
  const other = await owner.post(at, { name: 'Two', ...origins(`${origin}:443`) });
  expect([other.status, other.body.code]).toEqual([409, 'conflict']);
  const foreign = await company();
  await expect(make(foreign.org, { name: 'Three', ...origins(origin) })).rejects.toMatchObject({
    code: 'conflict',
  });
});

test('O12 an origin on the host of idctl is refused: the application would get the cookies of idctl', async () => {
  const { org } = await company();
  const { hostname } = new URL(idctl.baseUrl);
  await expect(make(org, origins(`http://${hostname}:9`))).rejects.toMatchObject({
    code: 'conflict',
  });
});

test('O12 an admin’s origin is removed when its organization no longer owns the nearest verified domain; the operator’s origin stays', async () => {
  const { org, domain, owner, at } = await company();
  await make(org, { name: 'Operated', ...origins(`https://operated.${domain}`) });
  const team = `team.${domain}`;
  await owner.post(at, { name: 'Apps', ...origins(`https://x.${team}`, `https://y.${domain}`) });
  const left = async () => (await owner.get(`${at}/Apps`)).body.forwardAuthOrigins;
  const rival = await company();
  await addDomain(idctl.operator(), { org: rival.org, domain: team });
  await assertDomain(idctl.operator(), { org: rival.org, domain: team });
  expect(await left()).toEqual([`https://y.${domain}`]);
  const again = { ...origins(`https://x.${team}`) };
  expect((await change(owner, `${at}/Apps`, again)).body.code).toBe('domain_unverified');
  expect((await remove(owner, `/api/v1/orgs/${org}/domains/${domain}`)).status).toBe(204);
  expect(await left()).toEqual([]);
  expect((await owner.get(`${at}/Operated`)).body.forwardAuthOrigins).toEqual([
    `https://operated.${domain}`,
  ]);
});

test('a dry run of a change leaves the client as it is', async () => {
  const { org, owner, at } = await company();
  await make(org);
  const answer = await change(owner, `${at}/Wiki?dryRun=true`, { name: 'Other' });
  expect([answer.status, answer.body.name]).toEqual([200, 'Other']);
  expect((await owner.get(`${at}/Wiki`)).status).toBe(200);
  const input = changeClient.input.parse({ org, client: 'None', name: 'Other' });
  await expect(changeClient(idctl.operator(), input)).rejects.toMatchObject({ code: 'not_found' });
});
