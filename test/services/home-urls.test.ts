import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../../src/database/models/client.ts';
import { transaction } from '../../src/database/transaction.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { findAdmitting } from '../../src/services/tenancy/clients/admits.sql.ts';
import { createClient } from '../../src/services/tenancy/clients/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { putProjectMember } from '../../src/services/tenancy/projects/members.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { fresh, organization, person, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { open } from '../support/pages.ts';
import { clientOf } from '../support/scim-client.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

const redirectUris = ['https://wiki.acme.test/callback'];

const make = (org: string, name: string, given: object = {}) =>
  createClient(
    idctl.operator(),
    createClient.input.parse({ org, name, redirectUris, homeUrl: 'https://a.test/', ...given }),
  );

/** A member of a new organization. `listed` names the applications of the person's account page. */
async function member() {
  const { slug: org, ...organized } = await organization(idctl);
  const { id, email } = await person(idctl);
  await addMember(idctl.operator(), { org, email: email ?? '', role: 'member' });
  const listed = async (most = 200) =>
    (await findAdmitting(idctl.operator(), id, most)).map(({ name }) => name);
  return { org, ...organized, user: id, email, listed };
}

test('a home page is set, changed, removed, exported and recorded', async () => {
  const { slug, owner } = await organization(idctl);
  const client = await signedIn(idctl, owner.email);
  const at = `/api/v1/orgs/${slug}/clients`;
  const homeUrl = 'https://wiki.acme.test/start?from=idctl';
  const made = await client.post(at, { name: 'Wiki', redirectUris, homeUrl });
  expect([made.status, made.body.homeUrl]).toEqual([201, homeUrl]);
  const document = (await client.get(`/api/v1/orgs/${slug}/export`)).body;
  expect(document.clients).toEqual([{ name: 'Wiki', homeUrl, redirectUris }]);
  const set = (body: object) => client.send('PATCH', `${at}/Wiki`, { body });
  expect((await set({ pkce: false })).body.homeUrl).toBe(homeUrl);
  expect((await set({ homeUrl: 'http://localhost:3000' })).body.homeUrl).toBe(
    'http://localhost:3000',
  );
  const changed = { ...document, clients: [{ name: 'Wiki', redirectUris, pkce: false, homeUrl }] };
  const plan = await client.post(`/api/v1/orgs/${slug}/plan`, { document: changed });
  expect(plan.body.changes).toEqual([
    {
      section: 'clients',
      action: 'change',
      key: 'Wiki',
      fields: [{ field: 'homeUrl', from: 'http://localhost:3000', to: homeUrl }],
    },
  ]);
  const { digest } = plan.body;
  const applied = await client.post(`/api/v1/orgs/${slug}/apply`, { document: changed, digest });
  expect([applied.status, (await client.get(`${at}/Wiki`)).body.homeUrl]).toEqual([200, homeUrl]);
  expect((await set({ homeUrl: null })).body.homeUrl).toBeNull();
  const { body } = await client.get(`/api/v1/orgs/${slug}/events?kind=client.updated`);
  expect(body.items.map(({ data }: { data: object }) => data)).toEqual(
    [['pkce'], ['homeUrl'], ['homeUrl'], ['homeUrl']].map((fields) => ({ fields })),
  );
});

test.each([
  ['http://wiki.acme.test/', 'https:// address'],
  ['javascript:alert(1)', 'https:// address'],
  ['data:text/html,x', 'https:// address'],
  ['https://ada:pw@wiki.acme.test/', 'no user name'],
  ['//evil.test/', 'https:// address'],
])('O12 the home page %s is refused', async (homeUrl, words) => {
  const { slug, owner } = await organization(idctl);
  const client = await signedIn(idctl, owner.email);
  const answer = await client.post(`/api/v1/orgs/${slug}/clients`, {
    ...{ name: 'Wiki', redirectUris, homeUrl },
  });
  expect([answer.status, answer.body.errors]).toEqual([
    400,
    [{ path: 'homeUrl', message: expect.stringContaining(words) }],
  ]);
});

test('O12 the account page lists the clients that admit the person now and have a home page, by name', async () => {
  const { org, user, listed } = await member();
  const { slug: project } = await createProject(idctl.operator(), { org, name: fresh('web') });
  await make(org, 'wiki');
  await make(org, 'Chat');
  await make(org, 'Admin', { project, role: 'member' });
  await make(org, 'Without a page', { homeUrl: null });
  const { org: other } = await member();
  await make(other, 'Of another organization');
  expect(await listed()).toEqual(['Chat', 'wiki']);
  expect(await listed(1)).toEqual(['Chat']);
  await putProjectMember(idctl.operator(), { org, user, project, role: 'viewer' });
  expect(await listed()).toEqual(['Chat', 'wiki']);
  await putProjectMember(idctl.operator(), { org, user, project, role: 'admin' });
  expect(await listed()).toEqual(['Admin', 'Chat', 'wiki']);
  const suspendedAt = new Date();
  await transaction(() => Client.update({ suspendedAt }, { where: { name: 'Chat' } }));
  expect(await listed()).toEqual(['Admin', 'wiki']);
  await removeMember(idctl.operator(), { org, user });
  expect(await listed()).toEqual([]);
});

test('O8 O12 the account page does not list applications of an organization that only pushed the person by SCIM', async () => {
  const org = await organization(idctl);
  await make(org.slug, 'Trap');
  const { id: user, email } = await person(idctl);
  const { token } = await rotateScimToken(idctl.operator(), { org: org.slug });
  await clientOf(idctl, org, token).create({ userName: email, displayName: 'Pushed' });
  expect(await findAdmitting(idctl.operator(), user, 200)).toEqual([]);
});

test('X10 the account page links to each application, escapes its name, and does not say where the person comes from', async () => {
  const { org, email } = await member();
  const client = await signedIn(idctl, email);
  expect((await open(client, '/')).body).not.toContain('id="applications"');
  await make(org, '<b>Wiki</b>', { homeUrl: 'https://wiki.acme.test/?a=1&b=2' });
  const { body } = await open(client, '/');
  expect(body).toContain('<h2 id="applications">Applications</h2>');
  expect(body).toContain(
    '<a href="https://wiki.acme.test/?a=1&amp;b=2" rel="noreferrer">&lt;b&gt;Wiki&lt;/b&gt;</a>',
  );
});
