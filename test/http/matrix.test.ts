import { beforeAll, describe, expect, test } from 'vitest';
import type { TokenScope } from '../../src/database/models/access-token.ts';
import { Refusal } from '../../src/errors.ts';
import { pathKeys, type Route } from '../../src/http/route.ts';
import { surface } from '../../src/http/surface.ts';
import { type Rule, ruleOf } from '../../src/services/foundation/authority/table.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { type Company, foundCompany, keysOf, pathOf, samples } from '../support/company.ts';
import type { Client } from '../support/http.ts';
import { openIdctl } from '../support/idctl.ts';
import type { Person } from '../support/instance.ts';

// Calls every route as every caller, and compares the answers with the authority table and the
// golden files.

const nameOf = ({ method, path }: Route) => `${method} ${path}`;

// Deletions run late, nested objects before their organization. The password change ends the other
// sessions and the sign-out the caller's own, so these two run last.
// `DELETE /api/v1/me` is refused, because each person has become the last owner of an organization.
const rank = ({ method, path }: Route) =>
  path.endsWith('/logout')
    ? 3
    : path === '/api/v1/me/password'
      ? 2
      : method === 'DELETE'
        ? 1 - path.length / 1000
        : 0;
const routes = surface.routes.toSorted((a, b) => rank(a) - rank(b));

// Owners leave before the deletions, while the organization exists and refuses its last owner. Others
// leave after them, because they lose their rights in the organization.
const isLeaving = ({ path }: Route) => path.endsWith('/members/me');
const orderFor = (who: string) => {
  const staying = /owner|operator/.test(who);
  const rankFor = (route: Route) => (isLeaving(route) ? (staying ? 0 : 1.5) : rank(route));
  return routes.toSorted((a, b) => rankFor(a) - rankFor(b));
};

/** The answer of one route: `ok`, or the code of the refusal. */
type Said = string;
type Ask = (route: Route) => Promise<Said>;

/** Every caller, and how it calls a route. */
const everybody = {
  anonymous: async (company) => over(company, company.instance.client(), company.owner),
  stranger: async (company) => over(company, company.stranger, company.owner),
  foreigner: async (company) => over(company, company.foreigner, company.owner),
  member: async (company) => over(company, company.member, company.member),
  'project admin': async (company) => over(company, company.projectAdmin, company.projectAdmin),
  admin: async (company) => over(company, company.admin, company.admin),
  owner: async (company) => over(company, company.owner, company.owner),
  "owner's read token": (company) => byToken(company, 'read'),
  "owner's token": (company) => byToken(company, 'write'),
  "owner's admin token": (company) => byToken(company, 'admin'),
  operator: async (company) => atTheShell(company),
} satisfies Record<string, (company: Company) => Promise<Ask>>;

type Who = keyof typeof everybody;
// Object.keys loses the type of the keys.
const names = Object.keys(everybody) as Who[];

/** Calls a route over HTTP. For a kind that a person owns, `:id` names an object of `whose`. */
function over(company: Company, client: Client, whose: Person): Ask {
  return async (route) => {
    const { query, body, form } = samples[nameOf(route)] ?? {};
    const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
    const path = pathOf(route, company, whose) + search;
    const answer = form
      ? await client.form(path, form)
      : await client.send(route.method, path, { body });
    expect(answer.status, nameOf(route)).not.toBe(500);
    return answer.status < 400 ? 'ok' : (answer.body.code ?? answer.body.error);
  };
}

/** Calls a route with a token of the owner. */
async function byToken(company: Company, scope: TokenScope): Promise<Ask> {
  const { instance, owner } = company;
  const { token } = await createToken(instance.operator(), { user: owner.id, name: 'ci', scope });
  return over(company, instance.client({ headers: { authorization: `Bearer ${token}` } }), owner);
}

/** Calls the services as the operator, like the command line. */
function atTheShell(company: Company): Ask {
  return async (route) => {
    const { query, body, form } = samples[nameOf(route)] ?? {};
    const input = { ...query, ...body, ...form, ...keysOf(route, company, company.owner) };
    return route.answer(company.instance.operator(), input).then(
      () => 'ok',
      (error: unknown) => {
        if (error instanceof Refusal) return error.code;
        throw error;
      },
    );
  };
}

const said = new Map<Who, Map<Route, Said>>();

beforeAll(async () => {
  for (const who of names) {
    const instance = await openIdctl({
      doh: { resolverUrl: 'http://127.0.0.1:1' },
      orgs: { creation: 'anyone' },
    });
    try {
      const ask = await everybody[who](await foundCompany(instance));
      const answers = new Map<Route, Said>();
      for (const route of orderFor(who)) answers.set(route, await ask(route));
      said.set(who, answers);
    } finally {
      await instance.close();
    }
  }
}, 300_000);

const told = (who: Who, route: Route): Said => said.get(who)?.get(route) ?? 'nothing';

/** Answers given before or by the authority check. Any other answer shows that the check passed. */
const unproved = [
  'nothing',
  'invalid_input',
  'malformed_request',
  'unauthenticated',
  'invalid_credential',
  'not_found',
  'forbidden',
  'session_required',
  'scope_required',
];

const roles = ['member', 'admin', 'owner'] as const;
const roleOf: Record<Who, (typeof roles)[number] | null> = {
  anonymous: null,
  stranger: null,
  foreigner: null,
  member: 'member',
  'project admin': 'member',
  admin: 'admin',
  owner: 'owner',
  "owner's read token": 'owner',
  "owner's token": 'owner',
  "owner's admin token": 'owner',
  operator: 'owner',
};

/** The effects that the scope of each token allows (security P15). */
const mayDo: { [name in Who]?: Rule['effect'][] } = {
  "owner's read token": ['reads'],
  "owner's token": ['reads', 'changes'],
  "owner's admin token": ['reads', 'changes', 'letsIn'],
};

/** The answer by the authority table: `yes`, or the code of the refusal. */
function expected(who: Who, { access, path }: Route): Said {
  if (access === 'public') return 'yes';
  const { least, orInProject, session, effect } = ruleOf(access);
  if (who === 'anonymous') return 'unauthenticated';
  const role = roleOf[who];
  // The object in the path belongs to another account.
  if (role === null && path.includes('/:id')) return 'not_found';
  if (least !== 'user') {
    if (role === null) return 'not_found';
    const inside = who === 'project admin' && orInProject !== undefined;
    if (!inside && roles.indexOf(role) < roles.indexOf(least)) return 'forbidden';
  }
  const scope = mayDo[who];
  if (scope !== undefined && session !== undefined) return 'session_required';
  return scope === undefined || scope.includes(effect) ? 'yes' : 'scope_required';
}

describe('interface page: the rights of each caller', () => {
  test.each(names)('%s may do exactly what the authority table says', (who) => {
    // For a person's own objects, the operator gives other input, which names the account.
    const asked = routes.filter(
      ({ access }) =>
        access !== 'public' && !(who === 'operator' && ruleOf(access).least === 'user'),
    );
    expect(asked.length).toBeGreaterThan(20);
    const answers = asked.map((route) => {
      const answer = told(who, route);
      return `${nameOf(route)}: ${unproved.includes(answer) ? answer : 'yes'}`;
    });
    expect(answers).toEqual(asked.map((route) => `${nameOf(route)}: ${expected(who, route)}`));
  });

  test('the callers that may use each route are those in the golden file', async () => {
    const lines = routes
      .filter(({ access }) => access !== 'public')
      .map(
        (route) =>
          `${nameOf(route)}: ${names.filter((who) => !unproved.includes(told(who, route))).join(', ')}`,
      );
    await expect(`${lines.sort().join('\n')}\n`).toMatchFileSnapshot('../golden/authority.txt');
  });
});

test('P15 every route that is not a GET counts as a change, except the two that only read', () => {
  const looks = routes.filter(
    ({ method, access }) =>
      method !== 'GET' && access !== 'public' && ruleOf(access).effect === 'reads',
  );
  expect(looks.map(nameOf)).toEqual([
    'POST /api/v1/orgs/:org/group-mappings/preview',
    'POST /api/v1/orgs/:org/plan',
  ]);
});

test('O7 every route refuses people from outside, except those in the golden file', async () => {
  const outsiders: Who[] = ['anonymous', 'stranger', 'foreigner'];
  const lines = routes
    .map((route) => ({ route, let: outsiders.filter((who) => told(who, route) === 'ok') }))
    .filter((line) => line.let.length > 0)
    .map((line) => `${nameOf(line.route)}: ${line.let.join(', ')}`);
  await expect(`${lines.sort().join('\n')}\n`).toMatchFileSnapshot('../golden/public-routes.txt');
});

test('every route has a unique name, and its path keys and filled fields are fields of its input', () => {
  expect(new Set(routes.map(nameOf)).size).toBe(routes.length);
  for (const route of routes) {
    expect(Object.keys(route.input.shape), nameOf(route)).toEqual(
      expect.arrayContaining([...pathKeys(route.path), ...Object.keys(route.filled ?? {})]),
    );
  }
});
