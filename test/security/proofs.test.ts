import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Domain } from '../../src/database/models/domain.ts';
import { Event } from '../../src/database/models/event.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { transaction } from '../../src/database/transaction.ts';
import type { Route } from '../../src/http/route.ts';
import { surface } from '../../src/http/surface.ts';
import { initialize } from '../../src/services/instance/setup/initialize.ts';
import { isProven, markVerified } from '../../src/services/tenancy/domains/domain.ts';
import { addDomain, removeDomain } from '../../src/services/tenancy/domains/operations.ts';
import { organization, password, person } from '../support/builders.ts';
import { foundCompany, pathOf, samples } from '../support/company.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { openInstance } from '../support/instance.ts';

const value = 'svc-verify=abc';
const answer = { rcode: 'NOERROR', truncated: false, values: ['v=spf1 -all', value] };

describe('D3 the proof of a domain', () => {
  test('D3 only the exact value proves a domain, in an answer that has no error and is not truncated', () => {
    expect(isProven(answer, value)).toBe(true);
    for (const rcode of ['SERVFAIL', 'NXDOMAIN', 'REFUSED', 'RCODE_9']) {
      expect(isProven({ ...answer, rcode }, value), rcode).toBe(false);
    }
    expect(isProven({ ...answer, truncated: true }, value)).toBe(false);
    for (const near of [
      `${value} `,
      ` ${value}`,
      `"${value}"`,
      value.toUpperCase(),
      `${value}x`,
      'svc-verify=',
      '',
    ]) {
      expect(isProven({ ...answer, values: [near] }, value), near).toBe(false);
    }
  });
});

describe('on one instance', () => {
  let idctl: Idctl;
  beforeAll(async () => {
    idctl = await openIdctl();
  });
  afterAll(() => idctl.close());

  test('D4 a proof verifies nothing if its pending domain was removed and added again in the meantime', async () => {
    const org = await organization(idctl);
    const add = () => addDomain(idctl.operator(), { org: org.slug, domain: 'acme.test' });
    await add();
    const proven = await Domain.findOne({ where: { name: 'acme.test' }, rejectOnEmpty: true });
    await removeDomain(idctl.operator(), { org: org.slug, domain: 'acme.test' });
    await add();
    const row = await Organization.findByPk(org.id, { rejectOnEmpty: true });
    await expect(markVerified(idctl.operator(), row, proven, 'dns')).rejects.toMatchObject({
      code: 'conflict',
    });
    const now = await Domain.findOne({ where: { name: 'acme.test' }, rejectOnEmpty: true });
    expect(now.state).toBe('Pending');
    const stale = Domain.build({ ...now.get(), token: proven.token }, { isNewRecord: false });
    await expect(markVerified(idctl.operator(), row, stale, 'dns')).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('I3 `user create` by the operator proves the address', async () => {
    const { id } = await person(idctl);
    expect((await Account.findByPk(id))?.emailProof).toBe('operator');
  });
});

test('I3 `init` proves the address of the first owner', async () => {
  const idctl = await openInstance();
  await initialize(idctl.operator(), { owner: 'olga@acme.test' });
  expect(await Account.findAll({ attributes: ['email', 'emailProof'], raw: true })).toEqual([
    { email: 'olga@acme.test', emailProof: 'operator' },
  ]);
});

test('I3 `init` does not make a stranger the owner: it removes the password, sessions and name of an account that signed up with the address', async () => {
  const idctl = await openInstance({ signup: { open: 'on' } });
  const stranger = idctl.client({ keepCookies: true });
  const email = 'olga@acme.test';
  await stranger.post('/api/v1/auth/signup', { email, password, name: 'Mallory' });
  // The account is now like one that signed up while the instance sent mail.
  await transaction(() =>
    Account.update({ emailProof: 'none', awaitsCode: true }, { where: { email } }),
  );
  const { owner } = await initialize(idctl.operator(), { owner: email });
  expect((await stranger.get('/api/v1/me')).status).toBe(401);
  const signIn = (secret: string | null) =>
    idctl.client().post('/api/v1/auth/login', { email, password: secret });
  expect((await signIn(password)).status).toBe(401);
  expect(await signIn(owner.password)).toMatchObject({
    status: 200,
    body: { user: { name: 'olga' } },
  });
  const proved = { emailProof: 'operator', awaitsCode: false };
  expect(await Account.findOne({ where: { email } })).toMatchObject(proved);
  expect(await Event.count({ where: { kind: 'account.reclaimed' } })).toBe(1);
});

test('I4 no route of an organization lets its owner change the row of an account', async () => {
  const company = await foundCompany(await openInstance({ orgs: { creation: 'anyone' } }));
  const accounts = async () => JSON.stringify(await Account.findAll({ raw: true, order: ['id'] }));
  const before = await accounts();
  const nameOf = ({ method, path }: Route) => `${method} ${path}`;
  const rank = ({ method, path }: Route) => (method === 'DELETE' ? 1 - path.length / 1000 : 0);
  const routes = surface.routes.filter(
    ({ path, method }) => path.startsWith('/api/v1/orgs/') && method !== 'GET',
  );
  for (const route of routes.toSorted((a, b) => rank(a) - rank(b))) {
    const { body } = samples[nameOf(route)] ?? {};
    const { status } = await company.owner.send(
      route.method,
      pathOf(route, company, company.owner),
      {
        body,
      },
    );
    expect(status, nameOf(route)).not.toBe(500);
    expect(await accounts(), nameOf(route)).toBe(before);
  }
});

describe('I1 one place for each step', () => {
  const src = resolve(import.meta.dirname, '../../src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const saying = (what: RegExp) =>
    files.filter((name) => what.test(readFileSync(join(src, name), 'utf8'))).toSorted();

  test('I1 one file links external identities to accounts, and one file begins sessions', () => {
    expect(saying(/\bIdentity\.(bulkC|c)reate\(/)).toEqual([
      'services/tenancy/identities/attach.ts',
    ]);
    expect(saying(/\bSession\.(bulkC|c)reate\(|insertRow\('sessions'/)).toEqual([
      'services/people/sessions/start.ts',
    ]);
    expect(saying(/\bstartSession\b/)).toEqual([
      'services/people/sessions/start.ts',
      'services/signin/begin.ts',
    ]);
  });

  test('I1 only the operator, sign-up and attach.ts make accounts', () => {
    expect(saying(/\bAccount\.(bulkC|c)reate\(/)).toEqual([
      'services/people/users/operations.ts',
      'services/signin/sign-up/signed-up.ts',
      'services/tenancy/identities/attach.ts',
    ]);
  });
});
