import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { appOf } from '../support/apps.ts';
import { fresh, organization, password, person, signedIn } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { tablesOf } from '../support/statements.ts';

let idctl: Idctl;
let browser: Client;
let program: Client;
let org: string;
let project: string;
beforeAll(async () => {
  idctl = await openIdctl();
  const owner = await person(idctl);
  org = (await organization(idctl)).slug;
  await addMember(idctl.operator(), { org, email: `${owner.email}`, role: 'owner' });
  project = (await createProject(idctl.operator(), { org, name: fresh('web') })).slug;
  browser = await signedIn(idctl, owner.email);
  const { token } = await createToken(idctl.operator(), { user: owner.id, name: 'statements' });
  program = idctl.client({ headers: { authorization: `Bearer ${token}` } });
});
afterAll(() => idctl.close());

const reading = (client: Client, path: string) =>
  tablesOf(async () => expect((await client.get(path)).status).toBe(200));

test('the own account is read together with the credential, by one statement', async () => {
  expect(await reading(browser, '/api/v1/me')).toEqual(['sessions']);
  expect(await reading(program, '/api/v1/me')).toEqual(['access_tokens']);
});

test('after a change, the own account is read again', async () => {
  const name = fresh('Grace');
  const changed = await program.send('PATCH', '/api/v1/me', { body: { name } });
  expect(changed).toMatchObject({ status: 200, body: { name } });
  expect((await browser.get('/api/v1/me')).body).toEqual(changed.body);
});

test('organization and project are read together with the role, by one statement', async () => {
  const asked = ['access_tokens', 'organizations'];
  expect(await reading(program, `/api/v1/orgs/${org}`)).toEqual(asked);
  const members = `/api/v1/orgs/${org}/projects/${project}/members`;
  expect((await reading(program, members)).slice(0, 2)).toEqual(asked);
});

test('a refresh reads token, session and account without the ORM', async () => {
  const refresh = () => browser.post('/api/v1/auth/refresh');
  const tables = await tablesOf(async () => expect((await refresh()).status).toBe(200));
  expect(tables).toEqual([
    ...['refresh_tokens', 'sessions'],
    // The new token, the old one, and the use of the session.
    ...['refresh_tokens', 'refresh_tokens', 'sessions'],
  ]);
});

test('a sign-in ends the session of its browser without the ORM', async () => {
  const { email } = await person(idctl);
  const client = await signedIn(idctl, email);
  const again = () => client.post('/api/v1/auth/login', { email, password });
  const tables = await tablesOf(async () => expect((await again()).status).toBe(200));
  expect(tables).not.toContain('ORM');
});

test('an app introspects a token without the ORM', async () => {
  const app = await appOf(idctl);
  const { access_token: token } = (await app.ask()).body;
  const path = '/api/v1/oauth/introspect';
  const ask = () => idctl.client().form(path, { ...app.credentials, token });
  expect(await tablesOf(ask)).not.toContain('ORM');
});
