import { expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { pathKeys, type Route } from '../../src/http/route.ts';
import { surface } from '../../src/http/surface.ts';
import { type Company, foundCompany, pathOf, samples } from '../support/company.ts';
import type { Answer } from '../support/http.ts';
import { openInstance } from '../support/instance.ts';

const hasBody = ({ method }: Route) => /^(POST|PUT|PATCH)$/.test(method);

/** The fields that a caller gives in body or query. */
const givenFields = (route: Route) =>
  Object.keys(route.input.shape).filter(
    (field) => !pathKeys(route.path).includes(field) && !isFilledOnly(route, field),
  );

function isFilledOnly({ filled = {} }: Route, field: string): boolean {
  const fill = filled[field];
  return fill !== undefined && !(typeof fill === 'object' && fill.orGiven);
}

/** Sends the sample of a route as the owner, with one field replaced. */
function askWith(company: Company, route: Route, field: string, value: unknown): Promise<Answer> {
  const { query = {}, body = {} } = samples[`${route.method} ${route.path}`] ?? {};
  const path = pathOf(route, company, company.owner);
  if (hasBody(route))
    return company.owner.send(route.method, path, { body: { ...body, [field]: value } });
  const search = new URLSearchParams(Object.entries({ ...query }).filter(([key]) => key !== field));
  for (const text of [value].flat()) search.append(field, String(text));
  return company.owner.send(route.method, `${path}?${search}`);
}

/** All routes but the OAuth forms, which ignore unknown fields and have their own tests. */
const strict = surface.routes.filter(
  ({ speaks, crossSiteForm }) => speaks === undefined && !crossSiteForm,
);

/** Every row of the database. */
async function everything(): Promise<string> {
  const rows: unknown[] = [];
  for (const model of Object.values(Account.sequelize?.models ?? {}))
    rows.push(await model.findAll({ raw: true }));
  return JSON.stringify(rows);
}

test('X6 on every route, wrong input changes nothing and gets 400 with the name of the field', async () => {
  const company = await foundCompany(await openInstance({ orgs: { creation: 'anyone' } }));
  const before = await everything();
  expect(before).toContain('acme');
  for (const route of strict) {
    const wrong: [string, unknown][] = givenFields(route).map((field) => [
      field,
      hasBody(route) ? { wrong: true } : ['a', 'b'],
    ]);
    if (!route.lenientQuery) wrong.push(['nonsense', 'x']);
    for (const [field, value] of wrong) {
      const { status, body } = await askWith(company, route, field, value);
      const named = body.errors?.map((fault: { path: string }) => fault.path.split('.')[0]);
      const where = `${route.method} ${route.path} with a wrong ${field}`;
      expect([where, status, named]).toEqual([where, 400, expect.arrayContaining([field])]);
    }
  }
  expect(await everything()).toBe(before);
});

test('X6 a wrong key in a path is refused too', async () => {
  const company = await foundCompany(await openInstance());
  const members = '/api/v1/orgs/acme/members';
  const patched = await company.owner.send('PATCH', `${members}/not-a-user`, {
    body: { role: 'admin' },
  });
  expect(patched).toMatchObject({ status: 400, body: { errors: [{ path: 'user' }] } });
  const domain = await company.owner.send('DELETE', '/api/v1/orgs/acme/domains/no%20domain');
  expect(domain).toMatchObject({ status: 400, body: { errors: [{ path: 'domain' }] } });
  const session = await company.owner.send('DELETE', '/api/v1/me/sessions/1');
  expect(session).toMatchObject({ status: 400, body: { errors: [{ path: 'id' }] } });
});
