import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import type { Route } from '../../src/http/route.ts';
import { surface } from '../../src/http/surface.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { type Company, foundCompany, pathOf, samples } from '../support/company.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { enrolled } from '../support/two-factor.ts';

// Tests `?dryRun=true` and `Prefer: return=representation` (interface page, "From anywhere").

let idctl: Idctl;
let company: Company;
beforeAll(async () => {
  idctl = await openIdctl({ orgs: { creation: 'anyone' } });
  company = await foundCompany(idctl);
}, 120_000);
afterAll(() => idctl.close());

const nameOf = ({ method, path }: Route) => `${method} ${path}`;
const rehearsable = surface.routes.filter(({ dryRun }) => dryRun);

/** Asks a route for a dry run, with the sample that the matrix of routes sends. */
function rehearse(client: Client, route: Route, dryRun = 'true') {
  const { query, body } = samples[nameOf(route)] ?? {};
  const path = pathOf(route, company, company.owner);
  return client.send(route.method, `${path}?${new URLSearchParams({ ...query, dryRun })}`, {
    body,
  });
}

/** Every row of the database, as text. */
async function rows(): Promise<string> {
  const models = Object.values(Account.sequelize?.models ?? {});
  const all = await Promise.all(models.map((model) => model.findAll({ raw: true })));
  return JSON.stringify(all);
}

test('a dry run answers 200 with the view, or refuses as the route does, and does not change a row', async () => {
  const before = await rows();
  const told: string[] = [];
  for (const route of rehearsable) {
    const { status, body } = await rehearse(company.owner, route);
    if (status === 200) expect(body).toBeTypeOf('object');
    told.push(`${nameOf(route)}: ${status === 200 ? 'ok' : body.code}`);
  }
  expect(await rows()).toBe(before);
  const refused = told.filter((line) => !line.endsWith(': ok'));
  expect(refused).toEqual([
    'DELETE /api/v1/me: last_owner',
    'POST /api/v1/orgs/:org/members: invite_instead',
    'POST /api/v1/orgs/:org/members/:user/second-factor/reset: operator_needed',
    'DELETE /api/v1/orgs/:org/members/me: last_owner',
    'POST /api/v1/orgs/:org/projects/:project/members: already_exists',
    'POST /api/v1/orgs/:org/sso/enable: domain_unverified',
    'POST /api/v1/orgs/:org/sso/approve: connection_changed',
    'POST /api/v1/orgs/:org/sso/refresh: conflict',
    'POST /api/v1/orgs/:org/ldap/enable: domain_unverified',
    'POST /api/v1/orgs/:org/ldap/approve: connection_changed',
    'POST /api/v1/me/totp/disable: conflict',
    'POST /api/v1/me/recovery-codes: conflict',
  ]);
});

test('every route that removes something takes a dry run', () => {
  const removing = surface.routes.filter(({ method }) => method === 'DELETE');
  expect(removing.filter(({ dryRun }) => !dryRun).map(nameOf)).toEqual([]);
});

test('P15 a read token cannot dry-run a change, and neither can an anonymous client', async () => {
  const reader = { user: company.owner.id, name: 'reader', scope: 'read' } as const;
  const { token } = await createToken(idctl.operator(), reader);
  const client = idctl.client({ headers: { authorization: `Bearer ${token}` } });
  for (const route of rehearsable) {
    const { body } = await rehearse(client, route);
    expect([nameOf(route), body.code]).toEqual([
      nameOf(route),
      expect.stringMatching(/^(scope|session)_required$/),
    ]);
  }
  for (const route of rehearsable) {
    const { body } = await rehearse(idctl.client(), route);
    expect([nameOf(route), body.code]).toEqual([nameOf(route), 'unauthenticated']);
  }
});

test('a route without a dry run refuses dryRun=true and changes nothing', async () => {
  const before = await rows();
  const others = surface.routes.filter(
    ({ dryRun, access, method }) => !dryRun && access !== 'public' && method !== 'GET',
  );
  expect(others.length).toBeGreaterThan(5);
  for (const route of others) {
    const { status, body } = await rehearse(company.owner, route);
    expect([nameOf(route), status, body.code]).toEqual([nameOf(route), 400, 'invalid_input']);
  }
  const [route] = rehearsable;
  if (route === undefined) throw new Error('no route takes a dry run');
  expect(await rehearse(company.owner, route, 'yes')).toMatchObject({ status: 400 });
  expect(await rows()).toBe(before);
});

test('DELETE answers 204, or 200 with the removed view if Prefer says return=representation', async () => {
  const { owner } = company;
  const at = '/api/v1/orgs/acme/projects';
  const made = async (name: string) => (await owner.post(at, { name })).body;
  const [one, two, three] = [await made('One'), await made('Two'), await made('Three')];
  expect(await owner.send('DELETE', `${at}/one`)).toMatchObject({ status: 204, body: '' });
  const foreseen = await owner.send('DELETE', `${at}/two?dryRun=true`);
  const prefer = (value: string) => ({ headers: { prefer: value } });
  const removed = await owner.send('DELETE', `${at}/two`, prefer('return=representation'));
  expect([foreseen.status, removed.status]).toEqual([200, 200]);
  expect([removed.body, foreseen.body]).toEqual([two, two]);
  const minimal = await owner.send('DELETE', `${at}/three`, prefer('return=minimal'));
  expect(minimal).toMatchObject({ status: 204, body: '' });
  expect([one.slug, three.slug]).toEqual(['one', 'three']);
});

test('P12 a dry run does not check the authenticator code, so it does not help to guess codes', async () => {
  const { client, code } = await enrolled(idctl);
  const path = '/api/v1/me/totp/disable';
  for (const given of ['000000', code()]) {
    const foreseen = await client.post(`${path}?dryRun=true`, { code: given });
    expect(foreseen).toMatchObject({ status: 200, body: { twoFactorEnabled: false } });
  }
  expect((await client.get('/api/v1/me')).body.twoFactorEnabled).toBe(true);
  expect(await client.post(path, { code: code() })).toMatchObject({ status: 204 });
});

test('the API document describes dryRun and Prefer', async () => {
  const { body } = await idctl.client().get('/api/v1/openapi.json');
  const at = (path: string) => body.paths[path];
  const named = (operation: { parameters: { name: string }[] }) =>
    operation.parameters.map(({ name }) => name);
  const project = at('/api/v1/orgs/{org}/projects/{project}');
  expect(named(project.delete)).toEqual(['org', 'project', 'dryRun', 'Prefer']);
  expect(Object.keys(project.delete.responses)).toEqual(['200', '204', '4XX', '5XX']);
  expect(named(project.patch)).toEqual(['org', 'project', 'dryRun']);
  expect(named(at('/api/v1/orgs/{org}/members').get)).not.toContain('dryRun');
});

test('an unknown route gets the code route_not_found, and an unknown object not_found', async () => {
  const { owner } = company;
  for (const path of ['/api/v1/nothing', '/api/v1/orgs/acme/nothing', '/auth/nothing'])
    expect(await owner.get(path)).toMatchObject({ status: 404, body: { code: 'route_not_found' } });
  expect(await owner.get('/api/v1/orgs/none')).toMatchObject({ body: { code: 'not_found' } });
});
