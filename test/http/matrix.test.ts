import { expect, test } from 'vitest';
import { type Access, pathKeys, type Route } from '../../src/http/route.ts';
import { surface } from '../../src/http/surface.ts';
import { ruleOf } from '../../src/services/authority/table.ts';
import { foundCompany, params, samples } from '../support/company.ts';
import type { Answer, Client } from '../support/http.ts';
import { openInstance, type Person } from '../support/instance.ts';

const nameOf = ({ method, path }: Route) => `${method} ${path}`;

// What is deleted is deleted last, what holds other things after them, and a session is ended after everything.
const rank = ({ method, path }: Route) =>
  path.endsWith('/logout') ? 2 : method === 'DELETE' ? 1 - path.length / 1000 : 0;
const routes = surface.routes.toSorted((a, b) => rank(a) - rank(b));

/** Sends the sample of a route; `:id` is a session of `whose`. */
function ask(client: Client, route: Route, whose: Person): Promise<Answer> {
  const { query, body } = samples[nameOf(route)] ?? {};
  const keys: Record<string, string> = { ...params, id: whose.spareSession };
  const path = route.path.replace(/:(\w+)/g, (_all, key: string) => encodeURIComponent(keys[key] ?? key));
  const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
  return client.send(route.method, path + search, { body });
}

const isSuccess = ({ status }: Answer) => status < 400;

test('O7 nobody from outside gets a yes but where it is public', async () => {
  const instance = await openInstance({ doh: { resolverUrl: 'http://127.0.0.1:1' } });
  const company = await foundCompany(instance);
  const outsiders = {
    anonymous: instance.client(),
    stranger: company.stranger,
    foreigner: company.foreigner,
  };
  const lines: string[] = [];
  for (const route of routes) {
    const said: string[] = [];
    for (const [who, client] of Object.entries(outsiders)) {
      const answer = await ask(client, route, company.owner);
      expect(answer.status, `${who} ${nameOf(route)}`).toBeLessThan(500);
      if (isSuccess(answer)) said.push(who);
    }
    if (said.length > 0) lines.push(`${nameOf(route)}: ${said.join(', ')}`);
  }
  await expect(`${lines.sort().join('\n')}\n`).toMatchFileSnapshot('../golden/public-routes.txt');
});

test('interface page: what is not public asks the anonymous to sign in', async () => {
  const instance = await openInstance();
  const company = await foundCompany(instance);
  for (const route of routes.filter(({ access }) => access !== 'public')) {
    const answer = await ask(instance.client(), route, company.owner);
    expect([nameOf(route), answer.status, answer.body.code]).toEqual([nameOf(route), 401, 'unauthenticated']);
  }
});

const roles = ['member', 'admin', 'owner'] as const;

/** The authority table: each role may do what those below it may, and `user` is below them all. */
const mayDo = (role: (typeof roles)[number], access: Access) =>
  access === 'public' || roles.indexOf(role) >= ['member', 'admin', 'owner'].indexOf(ruleOf(access).least);

test.each(roles)(
  'interface page: the role %s may do what the authority table says, and no more',
  async (role) => {
    const instance = await openInstance({
      doh: { resolverUrl: 'http://127.0.0.1:1' },
      orgs: { creation: 'anyone' },
    });
    const company = await foundCompany(instance);
    for (const route of routes) {
      if (route.access === 'public') continue;
      const answer = await ask(company[role], route, company[role]);
      const may = mayDo(role, route.access);
      // A resolver that is not there is a failing upstream, after the authority was proved.
      const expected = may ? expect.toSatisfy((s: number) => s < 400 || s === 502) : 403;
      expect([nameOf(route), answer.status, JSON.stringify(answer.body)]).toEqual([
        nameOf(route),
        expected,
        expect.anything(),
      ]);
    }
  },
);

test('every route is named once, its path keys and filled fields are fields of its input', () => {
  expect(new Set(routes.map(nameOf)).size).toBe(routes.length);
  for (const route of routes) {
    expect(Object.keys(route.input.shape), nameOf(route)).toEqual(
      expect.arrayContaining([...pathKeys(route.path), ...Object.keys(route.filled ?? {})]),
    );
  }
});

test('every route of an admin names the command that does the same', () => {
  const silent = routes.filter(
    ({ access, cli }) => access !== 'public' && /admin|owner/.test(ruleOf(access).least) && !cli,
  );
  expect(silent.map(nameOf)).toEqual([]);
});
