import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { directOf } from '../../src/database/direct.ts';
import { Account } from '../../src/database/models/account.ts';
import { servedDatabase } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { explain } from '../../src/services/signin/explain/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { fresh, organization, person, signedIn, verifiedDomain } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { scimClient } from '../support/scim-client.ts';
import { registration } from '../support/sso.ts';
import { enrolled } from '../support/two-factor.ts';

// The attack: an admin uses `explain` to find out whether a stranger has an account, and its state.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ limits: { accountFailures: 2 } });
});
afterAll(() => idctl.close());

/** The explanation that an admin gets for an address, with the address replaced. */
async function told(admin: Client, org: string, email: string): Promise<string> {
  const { status, body } = await admin.get(`/api/v1/orgs/${org}/explain?user=${email}`);
  expect(status).toBe(200);
  return JSON.stringify(body).replaceAll(email, 'ADDRESS');
}

/** Creates accounts in six states that `explain` shows of members. Returns their addresses. */
async function strangers(domain: string): Promise<string[]> {
  const address = () => `${fresh('eve')}@${domain}`;
  const [plain, factor, disabled, locked, empty, elsewhere] = Array.from({ length: 6 }, address);
  await person(idctl, plain);
  await enrolled(idctl, factor);
  const { id } = await person(idctl, disabled);
  await transaction(() => Account.update({ disabledAt: new Date() }, { where: { id } }));
  await person(idctl, locked);
  for (let tries = 0; tries < 2; tries += 1)
    await idctl.client().post('/api/v1/auth/login', { email: locked, password: 'wrong' });
  const { id: without } = await person(idctl, empty);
  const nothing = { passwordHash: null, emailProof: 'none' as const };
  await transaction(() => Account.update(nothing, { where: { id: without } }));
  await person(idctl, elsewhere);
  const other = await organization(idctl);
  const joined = { org: other.slug, email: elsewhere ?? '', role: 'owner' as const };
  await addMember(idctl.operator(), joined);
  return [plain, factor, disabled, locked, empty, elsewhere].map((each) => each ?? '');
}

test('O8 explain gives the same answer for every stranger, with and without an account', async () => {
  const org = await organization(idctl);
  const admin = await signedIn(idctl, org.owner.email);
  for (const domain of ['elsewhere.test', await verifiedDomain(idctl, org.slug)]) {
    const people = await strangers(domain);
    const unknown = await told(admin, org.slug, `${fresh('unknown')}@${domain}`);
    for (const email of people) expect(await told(admin, org.slug, email), email).toBe(unknown);
  }
});

test('O8 explain reveals nothing about the account behind a pushed membership', async () => {
  const rival = await scimClient(idctl);
  const admin = await signedIn(idctl, rival.org.owner.email);
  const push = (email: string) =>
    rival.create({ userName: email, emails: [{ value: email, primary: true }] });
  const unknown = `${fresh('unknown')}@elsewhere.test`;
  const people = await strangers('elsewhere.test');
  for (const email of [unknown, ...people]) await push(email);
  const of = async (email: string) => told(admin, rival.org.slug, email);
  const expected = await of(unknown);
  expect(JSON.parse(expected)).toMatchObject({
    member: { role: 'member', origin: { kind: 'scim' } },
    attempts: null,
    blocks: [],
  });
  for (const email of people) expect(await of(email), email).toBe(expected);
});

test('O8 for a stranger, explain runs the same SQL statements with and without an account', async () => {
  const org = await organization(idctl);
  const domain = await verifiedDomain(idctl, org.slug);
  const [known = ''] = await strangers(domain);
  const unknown = `${fresh('unknown')}@${domain}`;
  const { id } = await Account.findOne({ where: { email: org.owner.email }, rejectOnEmpty: true });
  const admin = { kind: 'user', accountId: id, name: 'o', via: 'session', sessionId: id } as const;
  const statements = async (email: string) => {
    const seen: string[] = [];
    const database = servedDatabase();
    const read = vi.spyOn(directOf(database), 'read');
    const query = vi.spyOn(database, 'query');
    await explain(idctl.as(admin), { org: org.slug, user: email });
    for (const [sql] of [...read.mock.calls, ...query.mock.calls]) seen.push(String(sql));
    read.mockRestore();
    query.mockRestore();
    return seen.map((sql) => sql.replaceAll(email, 'ADDRESS'));
  };
  const ofUnknown = await statements(unknown);
  expect(ofUnknown.length).toBeGreaterThan(4);
  expect(await statements(known)).toEqual(ofUnknown);
});

test('O8 explain tells an organization only the removal of a person, not the state of the account', async () => {
  const org = await organization(idctl);
  const domain = await verifiedDomain(idctl, org.slug);
  const input = { org: org.slug, emailDomain: domain, issuer: 'https://idp.test', enabled: true };
  await saveSso(idctl.operator(), saveSsoInput.parse({ ...input, ...registration }));
  const [email = ''] = await strangers(domain);
  const as = { org: org.slug, email, role: 'member' as const };
  const { userId } = await addMember(idctl.operator(), as);
  await removeMember(idctl.operator(), { org: org.slug, user: userId });
  const admin = await signedIn(idctl, org.owner.email);
  const { ways, blocks, member, attempts } = JSON.parse(await told(admin, org.slug, email));
  expect(ways).toContainEqual({
    method: 'sso',
    on: true,
    could: false,
    rule: `${org.slug} has removed this person.`,
  });
  expect(blocks).toMatchObject([{ code: 'deactivated' }]);
  expect(ways[0]).toMatchObject({ method: 'password', could: null });
  expect([member, attempts]).toEqual([null, null]);
});

test('O8 explain tells only the operator whether another organization’s connection admits a person', async () => {
  const [org, rival] = [await organization(idctl), await organization(idctl)];
  const domain = await verifiedDomain(idctl, rival.slug);
  const input = { org: rival.slug, emailDomain: domain, issuer: 'https://idp.test', enabled: true };
  await saveSso(idctl.operator(), saveSsoInput.parse({ ...input, ...registration }));
  const [email = ''] = await strangers(domain);
  const own = { email, role: 'member' as const };
  const { userId } = await addMember(idctl.operator(), { ...own, org: rival.slug });
  await addMember(idctl.operator(), { ...own, org: org.slug });
  const admin = await signedIn(idctl, org.owner.email);
  const before = await told(admin, org.slug, email);
  expect(JSON.parse(before).ways[3]).toMatchObject({ method: 'sso', on: true, could: null });
  await removeMember(idctl.operator(), { org: rival.slug, user: userId });
  expect(await told(admin, org.slug, email)).toBe(before);
  const { ways } = await explain(idctl.operator(), { org: org.slug, user: email });
  expect(ways[3]).toMatchObject({ method: 'sso', on: true, could: false });
});
