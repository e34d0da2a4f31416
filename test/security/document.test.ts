import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client as ClientRow } from '../../src/database/models/client.ts';
import { Event } from '../../src/database/models/event.ts';
import { select } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { createUser } from '../../src/services/people/users/operations.ts';
import { exportOrganization } from '../../src/services/provisioning/document/operations.ts';
import {
  addDomain,
  assertDomain,
  removeDomain,
} from '../../src/services/tenancy/domains/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { changeMemberRole } from '../../src/services/tenancy/memberships/operations.ts';
import { fresh } from '../support/builders.ts';
import { type Company, foundCompany } from '../support/company.ts';
import { apply, exported, foundEmpty, plan, type Sent } from '../support/documents.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { scimClient } from '../support/scim-client.ts';

// A document can do no more than its actor can with single operations.

let idctl: Idctl;
let company: Company;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['hooks.acme.test'] } });
  company = await foundCompany(idctl);
  await addDomain(idctl.operator(), { org: 'acme', domain: 'own.test' });
  await assertDomain(idctl.operator(), { org: 'acme', domain: 'own.test' });
});
afterAll(() => idctl.close());

async function tokenOf(user: string, scope: 'read' | 'write' | 'admin'): Promise<Client> {
  const { token } = await createToken(idctl.operator(), { user, name: 'ci', scope });
  return idctl.client({ headers: { authorization: `Bearer ${token}` } });
}

/** Plans and applies over HTTP. If the client may not plan, applies the operator's plan. */
async function tryApply(client: Client, document: Sent, prune = false) {
  const own = await client.post('/api/v1/orgs/acme/plan', { document, prune });
  const { digest } = own.status === 200 ? own.body : await plan(idctl.operator(), 'acme', document);
  return client.post('/api/v1/orgs/acme/apply', { document, prune, digest });
}

const sso = (value: string) => ({
  idctl: 1,
  sso: {
    emailDomain: 'acme.test',
    issuer: 'https://idp.acme.test',
    clientId: 'c',
    clientSecret: { value },
  },
});
const members = (more: Sent[]) => ({ idctl: 1, members: more });
const web = (more: Sent) => ({
  idctl: 1,
  projects: [{ slug: 'website', name: 'Website', ...more }],
});

const letsIn: [string, Sent][] = [
  ['a domain', { idctl: 1, domains: [{ domain: 'more.test' }] }],
  ['sign-in settings', { idctl: 1, signin: { github: false } }],
  ['an admin', members([{ email: 'mia@acme.test', role: 'admin' }])],
  ['an admin of a project', web({ members: [{ email: 'victim@acme.test', role: 'admin' }] })],
  ['a mapping to admin', mapped('admin')],
  ['a client', { idctl: 1, clients: [{ name: 'Evil', redirectUris: ['https://evil.test/'] }] }],
  [
    'another redirect URI',
    { idctl: 1, clients: [{ name: 'Wiki', redirectUris: ['https://evil.test/'] }] },
  ],
  ['a secret', sso('another')],
];

function mapped(role: string): Sent {
  return { idctl: 1, mappings: [{ group: 'dev', project: 'website', role }] };
}

test.each(letsIn)(
  'P15 a token of scope write cannot apply a document with %s',
  async (_what, document) => {
    const before = await exported(idctl.operator(), 'acme');
    const client = await tokenOf(company.owner.id, 'write');
    const answer = await tryApply(client, document);
    expect(answer).toMatchObject({ status: 403, body: { code: 'scope_required' } });
    expect(await exported(idctl.operator(), 'acme')).toEqual(before);
  },
);

test.each(['read', 'write'] as const)(
  'P15 a token of scope %s cannot plan a document with the value of a secret',
  async (scope) => {
    const client = await tokenOf(company.owner.id, scope);
    const document = sso('another');
    expect(await client.post('/api/v1/orgs/acme/plan', { document })).toMatchObject({
      status: 403,
      body: { code: 'scope_required' },
    });
    const admin = await tokenOf(company.owner.id, 'admin');
    expect((await admin.post('/api/v1/orgs/acme/plan', { document })).status).toBe(200);
  },
);

test('P15 a token of scope write can apply a document with a new project; scope read can only plan and export', async () => {
  const document = { idctl: 1, projects: [{ slug: 'fresh', name: 'Fresh' }] };
  const reader = await tokenOf(company.owner.id, 'read');
  expect(await reader.get('/api/v1/orgs/acme/export')).toMatchObject({ status: 200 });
  expect(await reader.post('/api/v1/orgs/acme/plan', { document })).toMatchObject({ status: 200 });
  expect(await tryApply(reader, document)).toMatchObject({ body: { code: 'scope_required' } });
  const writer = await tokenOf(company.owner.id, 'write');
  expect(await tryApply(writer, document)).toMatchObject({ status: 200, body: { applied: true } });
});

test('P15 an admin can neither grant the owner role nor demote the last owner, with a session or with a token', async () => {
  const before = await exported(idctl.operator(), 'acme');
  const grant = members([{ email: 'mia@acme.test', role: 'owner' }]);
  const take = members([
    { email: 'adam@acme.test', role: 'admin' },
    { email: 'olga@acme.test', role: 'admin' },
    { email: 'mia@acme.test', role: 'member' },
  ]);
  for (const client of [company.admin, await tokenOf(company.admin.id, 'admin')]) {
    expect(await tryApply(client, grant)).toMatchObject({ status: 403 });
    const taken = await client.post('/api/v1/orgs/acme/plan', { document: take });
    expect(taken).toMatchObject({ status: 409, body: { code: 'last_owner' } });
  }
  const token = await tokenOf(company.owner.id, 'admin');
  expect(await tryApply(token, grant)).toMatchObject({ body: { code: 'session_required' } });
  const rename = { idctl: 1, organization: { slug: 'acme', name: 'Other' } };
  expect(await tryApply(company.admin, rename)).toMatchObject({ body: { code: 'forbidden' } });
  expect(await exported(idctl.operator(), 'acme')).toEqual(before);
});

test('P15 an admin can neither demote nor remove an owner, although another owner remains', async () => {
  const mia = { org: 'acme', user: 'mia@acme.test' };
  await changeMemberRole(idctl.operator(), { ...mia, role: 'owner' });
  const before = await exported(idctl.operator(), 'acme');
  const demote = members([{ email: 'mia@acme.test', role: 'member' }]);
  const { members: all = [] } = await exportOrganization(idctl.operator(), { org: 'acme' });
  const kept = all.filter(({ email }) => email !== mia.user);
  const remove = { idctl: 1, members: kept };
  for (const client of [company.admin, await tokenOf(company.admin.id, 'admin')]) {
    expect(await tryApply(client, demote)).toMatchObject({ status: 403 });
    expect(await tryApply(client, remove, true)).toMatchObject({ status: 403 });
  }
  expect(await exported(idctl.operator(), 'acme')).toEqual(before);
  await changeMemberRole(idctl.operator(), { ...mia, role: 'member' });
});

test.each(['member', 'stranger', 'foreigner'] as const)(
  'O7 a %s cannot plan, apply or export',
  async (who) => {
    const client = company[who];
    const status = who === 'member' ? 403 : 404;
    expect(await client.get('/api/v1/orgs/acme/export')).toMatchObject({ status });
    const document = { idctl: 1 };
    expect(await client.post('/api/v1/orgs/acme/plan', { document })).toMatchObject({ status });
    const body = { document, digest: 'x' };
    expect(await client.post('/api/v1/orgs/acme/apply', body)).toMatchObject({ status });
  },
);

test('O8 an admin’s plan does not reveal whether an account exists on an unverified domain', async () => {
  const [known, none] = ['sam@acme.test', 'stranger@acme.test'];
  const document = members([known, none].map((email) => ({ email, role: 'member' })));
  const { body } = await company.admin.post('/api/v1/orgs/acme/plan', { document });
  const said = body.blocked.map((one: Sent) =>
    JSON.stringify(one).replaceAll(String(one['key']), ''),
  );
  expect(said).toHaveLength(2);
  expect(said[0]).toBe(said[1]);
  expect(body.blocked[0]).toMatchObject({ code: 'invite_instead' });
});

test('O8 a SCIM client cannot make another person’s address lead to a member', async () => {
  const { org, create, send } = await scimClient(idctl);
  const [boss, evil] = [`${fresh('boss')}@corp.test`, `${fresh('evil')}@foreign.test`];
  for (const email of [boss, evil]) await createUser(idctl.operator(), { email, name: 'N' });
  const { id } = await create({ userName: evil, emails: [{ value: evil, primary: true }] });
  const put = { userName: fresh('x'), emails: [{ value: boss, primary: true }] };
  expect((await send('PUT', `/Users/${id}`, put)).status).toBe(200);
  const document = members([{ email: boss, role: 'admin' }]);
  await apply(idctl.operator(), org.slug, document);
  const of = `SELECT a.email, m.role FROM memberships m JOIN accounts a ON a.id = m.account_id
    WHERE m.organization_id = $1`;
  const rows = await select<{ email: string; role: string }>(of, [org.id]);
  const roleOf = (email: string) => rows.find((row) => row.email === email)?.role;
  expect([roleOf(evil), roleOf(boss)]).toEqual(['member', 'admin']);
});

test('O8 an apply does not add a member on a domain that is given up at the same time', async () => {
  const operator = idctl.operator();
  const at = { org: 'acme', domain: `${fresh('leaving')}.test` };
  await addDomain(operator, at);
  await assertDomain(operator, at);
  const email = `ada@${at.domain}`;
  await createUser(operator, { email, name: 'Ada' });
  const document = members([{ email, role: 'member' }]);
  const planned = await company.admin.post('/api/v1/orgs/acme/plan', { document });
  expect(planned.body).toMatchObject({ blocked: [] });
  const { digest } = planned.body;
  const [gone, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const removing = transaction(async () => {
    await removeDomain(operator, at);
    gone.resolve();
    await done.promise;
  });
  await gone.promise;
  const applying = company.admin.post('/api/v1/orgs/acme/apply', { document, digest });
  await Promise.race([applying, pause(1000)]);
  done.resolve();
  await removing;
  expect(await applying).toMatchObject({ status: 409, body: { code: 'plan_outdated' } });
});

test('X4 a plan, an apply, an event, an export and an error show no secret', async () => {
  const value = 'canary-7f3a';
  const seen: unknown[] = [];
  seen.push(await company.admin.post('/api/v1/orgs/acme/plan', { document: sso(value) }));
  const wrong = { ...sso(value), nonsense: { value } };
  seen.push(await company.admin.post('/api/v1/orgs/acme/plan', { document: wrong }));
  const applied = await tryApply(company.admin, sso(value));
  expect(applied.body.changes).toEqual([
    {
      section: 'sso',
      action: 'change',
      key: 'sso',
      fields: [{ field: 'clientSecret', changed: true }],
    },
  ]);
  seen.push(applied, await exported(idctl.operator(), 'acme'));
  seen.push(
    await select('SELECT * FROM events', []),
    await select('SELECT * FROM sso_connections', []),
  );
  expect(JSON.stringify(seen)).not.toContain(value);
  const again = await company.admin.post('/api/v1/orgs/acme/plan', { document: sso(value) });
  expect(again.body.changes).toEqual([]);
});

test('O12 X4 an apply does not return a client secret, and an export contains none', async () => {
  const client = { name: 'Canary', redirectUris: ['https://canary.test/'] };
  const document = { idctl: 1, clients: [client] };
  const { body } = await tryApply(company.admin, document);
  expect(body).toMatchObject({ applied: true, changes: [{ action: 'add', key: 'Canary' }] });
  const out = await exported(idctl.operator(), 'acme');
  const stored = await findClientIn('Canary');
  const seen = JSON.stringify([body, out]);
  expect(seen).not.toContain('cos_secret_');
  expect(seen).not.toContain(stored?.secretHash);
  // A document cannot set a client secret.
  const set = { idctl: 1, clients: [{ ...client, clientSecret: { value: 'mine' } }] };
  const planned = await company.admin.post('/api/v1/orgs/acme/plan', { document: set });
  expect(planned.status).toBe(400);
  await tryApply(company.admin, document, true);
  expect((await findClientIn('Canary'))?.secretHash).toBe(stored?.secretHash);
});

const findClientIn = (name: string) => ClientRow.findOne({ where: { name } });

test('O12 an admin’s document registers origins only on verified domains', async () => {
  const origins = ['https://own.test', 'https://app.own.test', 'https://else.test'];
  const client = { name: 'Proxied', forwardAuthOrigins: origins };
  const { body } = await tryApply(company.admin, { idctl: 1, clients: [client] });
  expect(body.blocked).toMatchObject([{ key: 'Proxied', code: 'domain_unverified' }]);
  const { clients } = await exported(idctl.operator(), 'acme');
  expect(clients).toContainEqual({
    name: 'Proxied',
    forwardAuthOrigins: ['https://app.own.test', 'https://own.test'],
  });
});

test('O12 a document can move an origin from one client to another, also in both directions at once', async () => {
  const clientsOf = (one: string[], other: string[]) => ({
    idctl: 1,
    clients: [
      { name: 'One', redirectUris: ['https://one.test/'], forwardAuthOrigins: one },
      { name: 'Two', redirectUris: ['https://two.test/'], forwardAuthOrigins: other },
    ],
  });
  const [first, second] = ['https://first.own.test', 'https://second.own.test'];
  const stored = async () => {
    const rows = await ClientRow.findAll({ where: { name: ['One', 'Two'] }, include: 'origins' });
    return rows
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ origins = [] }) => origins.map(({ origin }) => origin).toSorted());
  };
  for (const [one, other] of [
    [[first], [second]],
    [[second], [first]],
    [[], [first, second]],
  ]) {
    const { status, body } = await tryApply(company.admin, clientsOf(one ?? [], other ?? []));
    expect([status, body.blocked]).toEqual([200, []]);
    expect(await stored()).toEqual([one, other]);
  }
  const named = (await Event.findAll({ where: { kind: 'client.updated' } })).map(
    ({ subject }) => subject?.name,
  );
  expect(named.filter((name) => name === 'One' || name === 'Two')).toHaveLength(4);
  // A client that the document does not contain keeps its origins.
  const { body } = await tryApply(company.admin, {
    idctl: 1,
    clients: [{ name: 'Three', forwardAuthOrigins: [first] }],
  });
  expect(body.blocked).toMatchObject([{ key: 'Three', code: 'conflict' }]);
});

const withheld = { withheld: true };
const withSecret = (clientSecret: Sent, more: Sent = {}) => {
  const { sso: given } = sso('');
  return { idctl: 1, sso: { ...given, ...more, clientSecret } };
};

test.each([
  [{ env: 'IDCTL_SECRET_X' }],
  [{ file: 'x' }],
  [{ ...withheld, value: 'x' }],
  [{ withheld: false }],
])('X12 over REST, the secret %j is refused in a plan and in an apply', async (secret) => {
  const document = withSecret(secret);
  for (const [path, more] of [
    ['plan', {}],
    ['apply', { digest: 'x' }],
  ] as const) {
    const answer = await company.admin.post(`/api/v1/orgs/acme/${path}`, { document, ...more });
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ path: expect.stringMatching(/^document\.sso\.clientSecret/) }] },
    });
  }
});

test('X12 a plan counts a withheld secret as given and lists it as not compared; an apply refuses it', async () => {
  const kept = { changes: [], blocked: [], notCompared: ['sso.clientSecret'] };
  await tryApply(company.admin, sso('stored'));
  const planned = await plan(idctl.operator(), 'acme', withSecret(withheld));
  expect(planned).toMatchObject(kept);
  const unchanged = await plan(idctl.operator(), 'acme', withSecret({ unchanged: true }));
  expect(unchanged).toMatchObject({ ...kept, notCompared: [] });
  expect(unchanged.digest).not.toBe(planned.digest);
  // A changed issuer needs the secret again: a withheld one counts as given.
  const moved = withSecret(withheld, { issuer: 'https://moved.acme.test' });
  expect(await plan(idctl.operator(), 'acme', moved)).toMatchObject({
    ...kept,
    changes: [{ action: 'change', key: 'sso' }],
  });
  const document = withSecret(withheld);
  const apply = { document, digest: planned.digest };
  const refused = await company.admin.post('/api/v1/orgs/acme/apply', apply);
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
});

test('X12 a withheld secret of a new connection counts as set', async () => {
  const { slug } = await foundEmpty(idctl, 0);
  const ldap = {
    uri: 'ldaps://ldap.acme.test',
    bindDn: 'cn=idctl,dc=acme,dc=test',
    bindPassword: withheld,
    searchBase: 'dc=acme,dc=test',
    searchFilter: '(uid={username})',
    emailAttribute: 'mail',
  };
  const document = { ...withSecret(withheld), ldap };
  const planned = await plan(idctl.operator(), slug, document);
  expect(planned.notCompared).toEqual(['sso.clientSecret', 'ldap.bindPassword']);
  const fields = planned.changes.map(({ fields: all = [] }) =>
    all.filter((one) => 'changed' in one),
  );
  expect(fields).toEqual([
    [{ field: 'clientSecret', changed: true }],
    [{ field: 'bindPassword', changed: true }],
  ]);
});

test('X12 a token of scope read can plan with a withheld secret, but not with a value', async () => {
  const reader = await tokenOf(company.owner.id, 'read');
  const path = '/api/v1/orgs/acme/plan';
  const document = withSecret(withheld);
  for (let count = 0; count < 25; count += 1)
    expect(await reader.post(path, { document })).toMatchObject({ status: 200 });
  const sent = await reader.post(path, { document: sso('value') });
  expect(sent).toMatchObject({ status: 403, body: { code: 'scope_required' } });
});

test('S10 a changed issuer needs the secret again', async () => {
  const { sso: kept } = sso('');
  const moved = { ...kept, issuer: 'https://idp.attacker.test', clientSecret: { unchanged: true } };
  const answer = await company.admin.post('/api/v1/orgs/acme/plan', {
    document: { idctl: 1, sso: moved },
  });
  expect(answer).toMatchObject({ status: 409, body: { code: 'secret_required' } });
});

test('S10 a changed address of the directory needs the password again, in the plan too', async () => {
  const { slug: org } = await foundEmpty(idctl, 0);
  const kept = {
    uri: 'ldaps://directory.acme.test',
    bindDn: 'cn=idctl,dc=acme,dc=test',
    searchBase: 'dc=acme,dc=test',
    searchFilter: '(uid={username})',
    emailAttribute: 'mail',
  };
  const given = { idctl: 1, ldap: { ...kept, bindPassword: { value: 'canary-7f3a' } } };
  await apply(idctl.operator(), org, given);
  const moved = { ...kept, uri: 'ldaps://attacker.test', bindPassword: { unchanged: true } };
  await expect(plan(idctl.operator(), org, { idctl: 1, ldap: moved })).rejects.toMatchObject({
    code: 'secret_required',
  });
});

test('O3 a document that does not leave an owner a way to sign in is refused as a whole', async () => {
  const { slug, people } = await foundEmpty(idctl, 1);
  await addMember(idctl.operator(), { org: slug, email: people[0] ?? '', role: 'owner' });
  const domain = 'people.test';
  await addDomain(idctl.operator(), { org: slug, domain });
  await assertDomain(idctl.operator(), { org: slug, domain });
  const document = {
    idctl: 1,
    projects: [{ slug: 'whole', name: 'Whole' }],
    signin: { password: false },
  };
  const before = await exported(idctl.operator(), slug);
  await expect(apply(idctl.operator(), slug, document)).rejects.toMatchObject({
    code: 'owners_locked_out',
  });
  expect(await exported(idctl.operator(), slug)).toEqual(before);
});

test('X4 different secrets are counted: after twenty in an hour, every secret is refused, even the right one', async () => {
  const answers: number[] = [];
  for (let count = 0; count < 25; count += 1) {
    const document = sso(`guess ${count}`);
    answers.push((await company.admin.post('/api/v1/orgs/acme/plan', { document })).status);
  }
  expect(answers).toContain(429);
  const right = await company.admin.post('/api/v1/orgs/acme/plan', {
    document: sso('canary-7f3a'),
  });
  expect(right.status).toBe(429);
});
