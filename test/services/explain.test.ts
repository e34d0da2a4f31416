import { afterAll, beforeAll, expect, test } from 'vitest';
import { Identity } from '../../src/database/models/identity.ts';
import { Session } from '../../src/database/models/session.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { transaction } from '../../src/database/transaction.ts';
import { addMapping } from '../../src/services/provisioning/mappings/operations.ts';
import { previewMappings } from '../../src/services/provisioning/mappings/preview.ts';
import { explain } from '../../src/services/signin/explain/operations.ts';
import {
  createInvitation,
  revokeInvitation,
} from '../../src/services/tenancy/invitations/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { changeMemberRole } from '../../src/services/tenancy/memberships/operations.ts';
import { putProjectMember } from '../../src/services/tenancy/projects/members.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { organization, person, signedIn, verifiedDomain } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { scimClient } from '../support/scim-client.ts';
import { registration } from '../support/sso.ts';
import { enrolled } from '../support/two-factor.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({
    http: { trustedProxies: ['127.0.0.1'] },
    limits: { accountFailures: 2 },
  });
});
afterAll(() => idctl.close());

/** A member with a second factor, on the verified domain of an organization. */
async function member() {
  const org = await organization(idctl);
  const domain = await verifiedDomain(idctl, org.slug);
  const email = `ada@${domain}`;
  const { account } = await enrolled(idctl, email);
  await addMember(idctl.operator(), { org: org.slug, email, role: 'member' });
  const ask = (more: { project?: string } = {}) =>
    explain(idctl.operator(), { org: org.slug, user: email, ...more });
  return { org, domain, email, account, ask };
}

test('a way to sign in that then asks for the second factor is shown as possible', async () => {
  const { org, ask } = await member();
  const { ways, blocks } = await ask();
  expect(ways[0]).toEqual({
    method: 'password',
    on: true,
    could: true,
    rule: `The setting password of ${org.slug} is on. Then the authenticator app or a recovery code.`,
  });
  expect(blocks).toEqual([]);
});

test('where a second factor is called for and the account has none, explain says how to add one', async () => {
  const { org, domain, email, ask } = await member();
  const operator = idctl.operator();
  const none = 'No second factor is set up. The person can add one on the account page.';
  const ruleOf = async (user: string, name: string) =>
    (await explain(operator, { org: org.slug, user })).ways.find(({ method }) => method === name)
      ?.rule;
  const plain = `bea@${domain}`;
  await person(idctl, plain);
  await addMember(operator, { org: org.slug, email: plain, role: 'member' });
  const input = { org: org.slug, emailDomain: domain, issuer: 'https://idp.test' };
  await saveSso(operator, saveSsoInput.parse({ ...input, ...registration }));
  const set = (values: { enabled?: boolean; requireLocalTwoFactor: boolean }) =>
    transaction(() => SsoConnection.update(values, { where: { emailDomain: domain } }));
  await set({ enabled: true, requireLocalTwoFactor: true });
  expect(await ruleOf(plain, 'password')).toBe(`The setting password of ${org.slug} is on.`);
  expect(await ruleOf(plain, 'sso')).toBe(`Single sign-on is enabled for ${domain}. ${none}`);
  expect(await ruleOf(email, 'sso')).toMatch(/ Then the authenticator app or a recovery code\.$/);
  await set({ requireLocalTwoFactor: false });
  expect(await ruleOf(plain, 'sso')).toBe(`Single sign-on is enabled for ${domain}.`);
  await changeMemberRole(operator, { org: org.slug, user: plain, role: 'owner' });
  for (const way of ['password', 'sso']) expect(await ruleOf(plain, way)).toContain(none);
  expect((await ask()).blocks).toEqual([]);
});

test('explain shows when a lockout ends, and that it does not affect a network where the person has signed in', async () => {
  const { org, email, account, ask } = await member();
  const own = '127.0.0.1';
  const fail = (from: string) =>
    idctl
      .client()
      .post('/api/v1/auth/login', { email, password: 'wrong' }, { 'x-forwarded-for': from });
  for (const from of ['198.51.100.1', '198.51.100.2']) await fail(from);
  const until = expect.stringMatching(/Z$/);
  const partly = await ask();
  expect(partly.ways[0]).toMatchObject({ could: true, rule: expect.stringContaining('Locked') });
  expect(partly.blocks).toMatchObject([{ code: 'locked_in_part', until }]);
  for (let tries = 0; tries < 2; tries += 1) await fail(own);
  const locked = await ask();
  expect(locked.ways[0]).toMatchObject({ could: false });
  expect(locked.blocks).toMatchObject([{ code: 'too_many_tries', until }]);
  const shared = { of: 'password', network: null, used: 2, most: 2, until };
  const operators = [shared, { ...shared, network: own }];
  expect(locked.attempts).toEqual(operators);
  // The organization's admins see no networks.
  const admin = await signedIn(idctl, org.owner.email);
  const { body } = await admin.get(`/api/v1/orgs/${org.slug}/explain?user=${email}`);
  expect(body.ways[0]).toMatchObject({ could: false });
  expect(body.attempts).toEqual([shared]);
  idctl.wait(901);
  expect((await ask()).attempts).toEqual([]);
  expect(await Session.count({ where: { accountId: account.id } })).toBeGreaterThan(0);
});

test('`next` shows what the groups of the last sign-in would change, unless only the first sign-in applies groups', async () => {
  const { org, domain, account, ask } = await member();
  const operator = idctl.operator();
  const input = { org: org.slug, emailDomain: domain, issuer: 'https://idp.test' };
  await saveSso(operator, saveSsoInput.parse({ ...input, ...registration }));
  for (const name of ['Web', 'Wiki']) await createProject(operator, { org: org.slug, name });
  for (const project of ['web', 'wiki'])
    await addMapping(operator, { org: org.slug, group: 'dev', project, role: 'member' });
  const viewer = { org: org.slug, user: account.id, role: 'viewer' as const };
  await putProjectMember(operator, { ...viewer, project: 'wiki' });
  expect((await ask()).next).toBeNull();
  const connection = await SsoConnection.findOne({
    where: { emailDomain: domain },
    rejectOnEmpty: true,
  });
  await transaction(() =>
    Identity.create({
      id: crypto.randomUUID(),
      accountId: account.id,
      kind: 'sso',
      connectionId: connection.id,
      organizationId: org.id,
      issuer: input.issuer,
      subject: 'ada',
      linkedAt: operator.now,
      lastGroups: ['dev'],
      groupsSyncedAt: operator.now,
    }),
  );
  const { next, projects } = await ask();
  expect(projects).toEqual([{ slug: 'wiki', role: 'viewer', origin: { kind: 'operator' } }]);
  expect(next).toMatchObject({ adds: [{ project: { slug: 'web' }, role: 'member' }] });
  const none = { adds: [], changes: [], removes: [], orgRole: null };
  expect((await ask({ project: 'wiki' })).next).toEqual(none);
  await transaction(() => connection.update({ syncOnLogin: false }));
  expect((await ask()).next).toEqual(none);
});

test('§3.2 if SCIM has deactivated a person, explain and preview say so, and name the groups that SCIM keeps', async () => {
  const client = await scimClient(idctl);
  const { slug: org } = client.org;
  const user = `mia@${org}.test`;
  const { id } = await client.create({ userName: user, emails: [{ value: user, primary: true }] });
  await client.send('POST', '/Groups', { displayName: 'Developers', members: [{ value: id }] });
  const told = async () => {
    const { member, keptGroups } = await explain(idctl.operator(), { org, user });
    return { isMember: member !== null, keptGroups };
  };
  expect(await told()).toEqual({ isMember: true, keptGroups: null });
  await client.patch(id, { op: 'replace', path: 'active', value: false });
  expect(await told()).toEqual({ isMember: false, keptGroups: ['Developers'] });
  const { blocks } = await explain(idctl.operator(), { org, user });
  expect(blocks.map(({ code }) => code)).toEqual(['deactivated', 'no_password']);
  await expect(previewMappings(idctl.operator(), { org, user })).rejects.toMatchObject({
    code: 'groups_unknown',
    message: `SCIM shows ${user} as deactivated in ${org}, and keeps these groups: Developers.`,
    hint: [
      'Activate the person at the identity provider.',
      { technical: expect.stringContaining('--group NAME') },
    ],
  });
});

test('explain says that an invitation is pending, because a new one would revoke its link', async () => {
  const { slug: org } = await organization(idctl);
  const email = 'invited@elsewhere.test';
  const message = async () => {
    const { blocks } = await explain(idctl.operator(), { org, user: email });
    return JSON.stringify(blocks.find(({ code }) => code === 'unknown_account')?.message);
  };
  expect(await message()).toContain('invitation.create');
  const { id } = await createInvitation(idctl.operator(), { org, email, role: 'member' });
  expect(await message()).toContain('An invitation is pending');
  expect(await message()).not.toContain('invitation.create');
  await revokeInvitation(idctl.operator(), { org, id });
  expect(await message()).toContain('invitation.create');
});

test('explain says that a person needs an invitation only if single sign-on does not let them in', async () => {
  const { slug: org } = await organization(idctl);
  const domain = await verifiedDomain(idctl, org);
  const user = `eve@${domain}`;
  const blockOf = async () =>
    (await explain(idctl.operator(), { org, user })).blocks.find(
      ({ code }) => code === 'unknown_account',
    )?.message;
  expect(JSON.stringify(await blockOf())).toContain('invitation.create');
  const input = {
    org,
    emailDomain: domain,
    issuer: 'https://idp.test',
    ...registration,
    enabled: true,
  };
  await saveSso(idctl.operator(), saveSsoInput.parse(input));
  expect(await blockOf()).toBe(
    'There is no account with this address. The first sign-in creates it, so the person does not need an invitation.',
  );
});
