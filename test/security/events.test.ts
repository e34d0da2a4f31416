import { expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { transaction } from '../../src/database/transaction.ts';
import type { Route } from '../../src/http/route.ts';
import { surface } from '../../src/http/surface.ts';
import { assertDomain } from '../../src/services/tenancy/domains/operations.ts';
import { type Company, foundCompany, pathOf, samples } from '../support/company.ts';
import { openInstance } from '../support/instance.ts';

// Checks security X5 for every route, new routes included.

const nameOf = ({ method, path }: Route) => `${method} ${path}`;
// Deletions come after the rest, contents before their containers. The password change is last,
// because it ends other sessions.
const rank = ({ method, path }: Route) =>
  path === '/api/v1/me/password' ? 2 : method === 'DELETE' ? 1 - path.length / 1000 : 0;

/** Routes that change an organization or an account, in order. Tests and previews do not count. */
const changing = surface.routes
  .filter(
    ({ method, access, path }) =>
      method !== 'GET' &&
      access !== 'public' &&
      !/\/(test|preview|plan|(people-)?shut-out)$/.test(path),
  )
  .toSorted((a, b) => rank(a) - rank(b));

/** Routes without an event: one changes a person's name, one starts to set an authenticator up. */
const without = new Set(['PATCH /api/v1/me', 'POST /api/v1/me/totp']);

/** Routes that cannot succeed with only the sample. Other tests check their events. */
const elsewhere = new Set([
  'POST /api/v1/invitations/accept',
  'POST /api/v1/me/social/google',
  'POST /api/v1/me/social/github',
  'DELETE /api/v1/orgs/:org/members/me',
  'DELETE /api/v1/me',
  'DELETE /api/v1/me/social/google',
  'DELETE /api/v1/me/social/github',
  'POST /api/v1/me/passkeys/options',
  'POST /api/v1/me/passkeys',
  'POST /api/v1/me/totp/confirm',
  'POST /api/v1/me/totp/disable',
  'POST /api/v1/me/recovery-codes',
  'POST /api/v1/me/email',
  'POST /api/v1/me/email/confirm',
  'POST /api/v1/orgs/:org/members/:user/second-factor/reset',
  'POST /api/v1/orgs/:org/domains/:domain/verify',
  'POST /api/v1/orgs/:org/projects/:project/members',
  'POST /api/v1/orgs/:org/apply',
  'POST /api/v1/orgs/:org/sso/approve',
  // Only a SAML connection with a metadata URL is read again.
  'POST /api/v1/orgs/:org/sso/refresh',
  'POST /api/v1/orgs/:org/ldap/approve',
  // The PATCH route comes first and has made the same change.
  'PUT /api/v1/orgs/:org/projects/:project/members/:user',
]);

async function found(): Promise<Company> {
  const instance = await openInstance({ orgs: { creation: 'anyone' } });
  const company = await foundCompany(instance);
  // Admins can add members only on a verified domain.
  await assertDomain(instance.operator(), { org: 'acme', domain: 'acme.test' });
  return company;
}

function ask(company: Company, route: Route) {
  const { body, query } = samples[nameOf(route)] ?? {};
  const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
  return company.owner.send(route.method, pathOf(route, company, company.owner) + search, { body });
}

/** Every row of the database, except counters. */
async function everything(): Promise<string> {
  const models = Object.values(Account.sequelize?.models ?? {}).filter(
    ({ name }) => name !== 'Counter',
  );
  return JSON.stringify(await Promise.all(models.map((model) => model.findAll({ raw: true }))));
}

/** Renames a table, so that the next write to it fails. */
async function rename(table: string, other: string): Promise<void> {
  await transaction(async () => {
    await Account.sequelize?.query(`ALTER TABLE ${table} RENAME TO ${other}`);
  });
}

test('X5 every route that makes a change writes an event, except for one’s own name or an unconfirmed authenticator', async () => {
  const company = await found();
  const silent: string[] = [];
  for (const route of changing) {
    const before = await Event.count();
    const { status, body } = await ask(company, route);
    const name = nameOf(route);
    if (!elsewhere.has(name))
      expect([name, status, body], JSON.stringify(body)).toEqual([name, route.status, body]);
    if ((await Event.count()) === before && !elsewhere.has(name)) silent.push(name);
  }
  expect(silent.toSorted()).toEqual([...without].toSorted());
}, 90_000);

test('X5 a change whose event cannot be written is not made', async () => {
  const company = await found();
  const before = await everything();
  for (const route of changing) {
    if (without.has(nameOf(route)) || elsewhere.has(nameOf(route))) continue;
    await rename('events', 'events_elsewhere');
    const { status } = await ask(company, route);
    await rename('events_elsewhere', 'events');
    // Earlier changes were not made either. So the object may not exist (404), or a connection to
    // disable is not enabled (200).
    const possible = nameOf(route).endsWith('/disable') ? [500, 404, 200] : [500, 404];
    expect(possible, nameOf(route)).toContain(status);
  }
  expect(await everything()).toBe(before);
}, 90_000);
