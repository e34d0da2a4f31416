import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Organization } from '../../src/database/models/organization.ts';
import { execute } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import type { Cap } from '../../src/services/foundation/limits/caps.sql.ts';
import {
  accountCaps,
  caps,
  documentCaps,
  requireCapRoom,
  sectionsWithCap,
} from '../../src/services/foundation/limits/caps.ts';
import { planOrganization } from '../../src/services/provisioning/document/operations.ts';
import {
  assertDomain,
  listDomains,
  removeDomain,
} from '../../src/services/tenancy/domains/operations.ts';
import { createInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { createOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { fresh, organization, person, signedIn } from '../support/builders.ts';
import { fillCap, fillMembers } from '../support/capped.ts';
import { dialect } from '../support/database.ts';
import { exported } from '../support/documents.ts';
import type { Answer, Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { runMigration } from '../support/migration.ts';

// What one organization and one account can have (security O15).

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({
    outbound: { allow: ['127.0.0.1'] },
    orgs: { creation: 'anyone' },
  });
});
afterAll(() => idctl.close());

async function tenant() {
  const org = await organization(idctl);
  const client = await signedIn(idctl, org.owner.email);
  return { ...org, client, at: `/api/v1/orgs/${org.slug}` };
}

const add: Record<Cap, (client: Client, at: string, name: string) => Promise<Answer>> = {
  domains: (client, at, name) => client.post(`${at}/domains`, { domain: `${name}.test` }),
  webhooks: (client, at, name) =>
    client.post(`${at}/webhooks`, { url: `https://127.0.0.1/${name}` }),
  clients: (client, at, name) =>
    client.post(`${at}/clients`, { name, redirectUris: [`https://${name}.test/`] }),
  setupLinks: (client, at) => client.post(`${at}/setup-links`, { for: ['domain'] }),
  projects: (client, at, name) => client.post(`${at}/projects`, { name }),
  mappings: (client, at, name) =>
    client.post(`${at}/group-mappings`, { group: name, orgRole: 'member' }),
};
const kinds = Object.keys(caps) as Cap[]; // The keys of a constant table.
const isSection = (cap: Cap) => sectionsWithCap.some((section) => section === cap);

test('O15 the caps are those of the rule', () => {
  const most = Object.fromEntries(kinds.map((cap) => [cap, caps[cap].max]));
  expect({ ...most, account: accountCaps, document: documentCaps }).toEqual({
    domains: 50,
    webhooks: 20,
    clients: 200,
    setupLinks: 20,
    projects: 10_000,
    mappings: 10_000,
    account: { organizations: 10, organizationsADay: 20, invitationsADay: 100 },
    document: { members: 10_000, mappings: 10_000 },
  });
});

describe.each(kinds)('O15 the cap of %s', (cap) => {
  const { max: most, what } = caps[cap];
  const refused = {
    status: 409,
    body: {
      code: 'cap_reached',
      detail: `An organization can have at most ${most} ${what}.`,
      cap,
      most,
    },
  };

  test(`O15 of twenty parallel additions of ${cap} at one below the cap, exactly one succeeds`, async () => {
    const { id, client, at } = await tenant();
    await fillCap(cap, id, most - 1);
    const names = Array.from({ length: 20 }, () => fresh('n'));
    const answers = await Promise.all(names.map((name) => add[cap](client, at, name)));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 201) expect(answer).toMatchObject(refused);
  });

  test(`O15 what an organization has above the cap of ${cap} stays, and only adding is refused`, async () => {
    const { id, slug, client, at } = await tenant();
    await fillCap(cap, id, most + 2);
    expect(await add[cap](client, at, fresh('n'))).toMatchObject(refused);
    if (!isSection(cap)) return;
    const document = await exported(idctl.operator(), slug);
    expect(document['aboveCaps']).toEqual([{ section: cap, entries: most + 2, most }]);
    expect(document[cap]).toHaveLength(most + 2);
    const rest = cap === 'mappings' ? { idctl: 1 } : document;
    const plan = await client.post(`${at}/plan`, { document: rest });
    expect(plan).toMatchObject({ status: 200, body: { changes: [] } });
    expect((await client.send('PATCH', at, { body: { name: 'Other' } })).status).toBe(200);
  });
});

const entry: Record<(typeof sectionsWithCap)[number], Record<string, unknown>> = {
  domains: { domain: 'one-more.test' },
  webhooks: { url: 'https://127.0.0.1/more' },
  clients: { name: 'One more', redirectUris: ['https://more.test/'] },
  projects: { slug: 'one-more', name: 'One more' },
  mappings: { group: 'one more', orgRole: 'member' },
};

test.each(sectionsWithCap)(
  'O15 a document that adds above the cap of %s is refused by the plan',
  async (cap) => {
    const { id, client, at } = await tenant();
    await fillCap(cap, id, caps[cap].max);
    const planning = (more: Record<string, unknown>[]) =>
      client.post(`${at}/plan`, { document: { idctl: 1, [cap]: more } });
    expect((await planning([])).status).toBe(200);
    expect(await planning([entry[cap]])).toMatchObject({
      status: 409,
      body: { code: 'cap_reached', cap, most: caps[cap].max },
    });
  },
);

test('O15 above the cap, an import that does not add a mapping is accepted, and one that adds is refused', async () => {
  const { id, client, at } = await tenant();
  await fillCap('mappings', id, caps.mappings.max + 2);
  const importing = (mappings: unknown[], replace: boolean) =>
    client.post(`${at}/group-mappings/import`, { mappings, replace });
  const given = { group: 'other', orgRole: 'member' };
  expect(await importing([given], false)).toMatchObject({
    status: 409,
    body: { code: 'cap_reached', cap: 'mappings' },
  });
  const known = { group: 'group 1', orgRole: 'member' };
  expect((await importing([known], false)).status).toBe(200);
  expect((await importing([given], true)).status).toBe(200);
});

test('O15 a verified domain is not pending: verifying or removing one makes room for another', async () => {
  const { id, slug, client, at } = await tenant();
  await fillCap('domains', id, 50);
  expect((await add.domains(client, at, fresh('n'))).status).toBe(409);
  const { items } = await listDomains(idctl.operator(), { org: slug, limit: 2 });
  const [first, second] = items.map(({ domain }) => domain);
  await assertDomain(idctl.operator(), { org: slug, domain: first ?? '' });
  expect((await add.domains(client, at, fresh('n'))).status).toBe(201);
  expect((await add.domains(client, at, fresh('n'))).status).toBe(409);
  await removeDomain(idctl.operator(), { org: slug, domain: second ?? '' });
  expect((await add.domains(client, at, fresh('n'))).status).toBe(201);
});

test.runIf(dialect === 'postgres')(
  'O15 an addition to one organization does not wait for an addition to another',
  async () => {
    const [one, other] = [await tenant(), await tenant()];
    const adding = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const holding = transaction(async () => {
      await requireCapRoom(one, 'domains');
      held.resolve();
      await adding.promise;
    });
    await held.promise;
    expect((await add.domains(other.client, other.at, fresh('n'))).status).toBe(201);
    expect((await add.projects(one.client, one.at, fresh('n'))).status).toBe(201);
    adding.resolve();
    await holding;
  },
);

describe('O15 documents', () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => at);
  const documents = {
    members: many(10_001).map((at) => ({ email: `m${at}@people.test`, role: 'member' })),
    mappings: many(10_001).map((at) => ({ group: `group ${at}`, orgRole: 'member' })),
  };

  test.each(['members', 'mappings'] as const)(
    'O15 a document with 10,001 %s is refused, and the refusal names the cap',
    async (section) => {
      const { client, at } = await tenant();
      const entries = documents[section];
      const planning = (some: unknown[]) =>
        client.post(`${at}/plan`, { document: { idctl: 1, [section]: some } });
      expect(await planning(entries)).toMatchObject({
        status: 400,
        body: {
          errors: [{ path: `document.${section}`, message: 'must have at most 10000 entries' }],
        },
      });
      if (section === 'mappings') expect((await planning(entries.slice(1))).status).toBe(200);
    },
  );

  test('O15 an export names the members above the cap of a document', async () => {
    const { id, slug } = await tenant();
    await fillMembers(id, 10_000);
    const document = await exported(idctl.operator(), slug);
    expect(document['aboveCaps']).toEqual([{ section: 'members', entries: 10_001, most: 10_000 }]);
    const { input } = planOrganization;
    const given = { org: slug, document: { idctl: 1, aboveCaps: document['aboveCaps'] } };
    expect(input.safeParse(given).success).toBe(true);
  });
});

describe('O15 the organizations of an account', () => {
  const creating = (client: Client) => client.post('/api/v1/orgs', { name: fresh('mine') });

  async function creator() {
    const { id, email } = await person(idctl);
    return { id, client: await signedIn(idctl, email) };
  }

  test('O15 of twenty parallel creations by an account with nine organizations, exactly one succeeds; deleting one makes room', async () => {
    const { client } = await creator();
    const made: string[] = [];
    for (let count = 0; count < 9; count += 1) made.push((await creating(client)).body.slug);
    const answers = await Promise.all(Array.from({ length: 20 }, () => creating(client)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers)
      if (answer.status !== 201)
        expect(answer).toMatchObject({
          status: 409,
          body: {
            code: 'cap_reached',
            detail: 'An account can have created at most 10 organizations.',
            cap: 'organizations',
            most: 10,
          },
        });
    expect((await client.send('DELETE', `/api/v1/orgs/${made[0]}`)).status).toBe(204);
    expect((await creating(client)).status).toBe(201);
  });

  test('O15 an organization still counts for its creator after another person owns it', async () => {
    const { client, id } = await creator();
    const slugs: string[] = [];
    for (let count = 0; count < 10; count += 1) slugs.push((await creating(client)).body.slug);
    const other = await person(idctl);
    for (const org of slugs) {
      await addMember(idctl.operator(), { org, email: other.email ?? '', role: 'owner' });
      const left = await client.send('DELETE', `/api/v1/orgs/${org}/members/${id}`);
      expect(left.status).toBe(204);
    }
    expect(await creating(client)).toMatchObject({ status: 409, body: { code: 'cap_reached' } });
    // Owning organizations of others does not take room from the person's own.
    const heir = await signedIn(idctl, other.email);
    expect((await creating(heir)).status).toBe(201);
  });

  test('O15 an account creates at most twenty organizations a day, even if it deletes them', async () => {
    const { client } = await creator();
    for (let count = 0; count < 20; count += 1) {
      const { status, body } = await creating(client);
      expect(status).toBe(201);
      expect((await client.send('DELETE', `/api/v1/orgs/${body.slug}`)).status).toBe(204);
    }
    expect(await creating(client)).toMatchObject({
      status: 429,
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
      body: {
        code: 'too_many_requests',
        detail: 'An account can create at most 20 organizations a day.',
      },
    });
  });

  test('O15 the operator creates any number', async () => {
    for (let count = 0; count < 21; count += 1)
      await createOrganization(idctl.operator(), { name: fresh('many') });
    expect(await Organization.count({ where: { createdBy: null } })).toBeGreaterThan(20);
  });
});

describe('O15 the invitations of an account', () => {
  async function inviter(organizations: number) {
    const { id, email, name } = await person(idctl);
    const orgs: string[] = [];
    for (let count = 0; count < organizations; count += 1) {
      const { slug } = await createOrganization(idctl.operator(), { name: fresh('inviting') });
      await addMember(idctl.operator(), { org: slug, email: email ?? '', role: 'owner' });
      orgs.push(slug);
    }
    const client = await signedIn(idctl, email);
    const as = () => idctl.as({ kind: 'user', accountId: id, name, via: 'session', sessionId: '' });
    const invite = (org: string) =>
      createInvitation(as(), { org, email: `${fresh('new')}@people.test`, role: 'member' });
    const post = (org: string) =>
      client.post(`/api/v1/orgs/${org}/invitations`, { email: `${fresh('new')}@people.test` });
    return { orgs, invite, post };
  }
  const times = async (count: number, work: () => Promise<unknown>) => {
    for (let at = 0; at < count; at += 1) await work();
  };

  test('O15 a person sends at most 100 invitations a day over all organizations; the operator and others can still invite', async () => {
    const { orgs, invite, post } = await inviter(3);
    const [one = '', two = '', three = ''] = orgs;
    await times(50, () => invite(one));
    await times(49, () => invite(two));
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(three)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers)
      if (answer.status !== 201)
        expect(answer).toMatchObject({
          status: 429,
          headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
          body: {
            code: 'too_many_requests',
            detail: 'An account can send at most 100 invitations a day.',
          },
        });
    const by = { email: `${fresh('new')}@people.test`, role: 'member' as const };
    await createInvitation(idctl.operator(), { org: three, ...by });
    const another = await inviter(1);
    expect((await another.post(another.orgs[0] ?? '')).status).toBe(201);
  }, 60_000);
});

test('O15 the migration finds the creators of existing organizations', async () => {
  const { id, email } = await person(idctl);
  const client = await signedIn(idctl, email);
  const { body } = await client.post('/api/v1/orgs', { name: fresh('mine') });
  const given = await organization(idctl);
  await transaction(async () => {
    await execute('DROP INDEX organizations_created_by', []);
    await execute('ALTER TABLE organizations DROP COLUMN created_by', []);
  });
  await runMigration('0039-organization-creators');
  const made = await Organization.findByPk(body.id, { rejectOnEmpty: true });
  const byOperator = await Organization.findByPk(given.id, { rejectOnEmpty: true });
  expect([made.createdBy, byOperator.createdBy]).toEqual([id, null]);
});
