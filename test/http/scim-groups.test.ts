import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { execute } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { requireAuthority } from '../../src/services/foundation/authority/require.ts';
import { checkStored } from '../../src/services/instance/doctor/stored.ts';
import { addMapping, removeMapping } from '../../src/services/provisioning/mappings/operations.ts';
import { previewMappings } from '../../src/services/provisioning/mappings/preview.ts';
import { planWaiting } from '../../src/services/provisioning/mappings/replan.ts';
import { listScimRequests } from '../../src/services/provisioning/scim/log.ts';
import {
  changeMemberRole,
  listMembers,
} from '../../src/services/tenancy/memberships/operations.ts';
import { deleteUser } from '../../src/services/tenancy/profile/operations.ts';
import {
  listProjectMembers,
  putProjectMember,
} from '../../src/services/tenancy/projects/members.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { fresh, verifiedDomain } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type ScimClient, scimClient } from '../support/scim-client.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

async function people(client: ScimClient, ...names: string[]): Promise<string[]> {
  const userName = (name: string) => `${name}@${client.org.slug}.test`;
  const made = await Promise.all(names.map((name) => client.create({ userName: userName(name) })));
  return made.map(({ id }) => id);
}

const ids = (body: { members: { value: string }[] }) =>
  body.members.map(({ value }) => value).sort();

/** Makes a client with a project `web`, and a group `dev` that is mapped to a role in it. */
async function mapped(role: 'viewer' | 'member' | 'admin' = 'member') {
  const client = await scimClient(idctl);
  const org = client.org.slug;
  await createProject(idctl.operator(), { org, name: 'Web', slug: 'web' });
  const mapping = await addMapping(idctl.operator(), { org, group: 'dev', project: 'web', role });
  const [ada = '', ben = ''] = await people(client, 'ada', 'ben');
  const { body: group } = await client.send('POST', '/Groups', { displayName: 'dev' });
  const roles = async () => {
    const { items } = await listProjectMembers(idctl.operator(), {
      org,
      project: 'web',
      limit: 200,
    });
    return Object.fromEntries(
      items.map((one) => [
        one.email?.split('@')[0] ?? '',
        `${one.role}${one.synced ? '' : ' manual'}`,
      ]),
    );
  };
  const patch = (...Operations: object[]) =>
    client.send('PATCH', `/Groups/${group.id}`, { schemas: [patchSchema], Operations });
  const push = (...members: string[]) =>
    client.send('PUT', `/Groups/${group.id}`, {
      displayName: 'dev',
      members: members.map((value) => ({ value })),
    });
  return { client, org, mapping, ada, ben, group, roles, patch, push };
}

test('a list that breaks off is recorded with status 500 in the log of requests', async () => {
  const { client, org, push, ada } = await mapped();
  await push(ada);
  const rename = (from: string, to: string) =>
    transaction(() => execute(`ALTER TABLE ${from} RENAME TO ${to}`, []));
  await rename('scim_group_members', 'away');
  try {
    await expect(client.get('/Groups')).rejects.toThrow();
  } finally {
    await rename('away', 'scim_group_members');
  }
  const latest = async () =>
    (await listScimRequests(idctl.operator(), { org, limit: 1 })).items.map(({ status }) => status);
  await expect.poll(latest).toEqual([500]);
});

test('O7 a client neither reads nor changes a group of another organization by its id', async () => {
  const { client, group, ada, push } = await mapped();
  await push(ada);
  const other = await scimClient(idctl);
  const operations = [{ op: 'replace', path: 'displayName', value: 'taken' }];
  const requests: [method: string, body?: object][] = [
    ['GET'],
    ['PUT', { displayName: 'taken' }],
    ['PATCH', { schemas: [patchSchema], Operations: operations }],
    ['DELETE'],
  ];
  for (const [method, body] of requests) {
    const { status } = await other.send(method, `/Groups/${group.id}`, body);
    expect([method, status]).toEqual([method, 404]);
  }
  const { body } = await client.get(`/Groups/${group.id}`);
  expect([body.displayName, ids(body)]).toEqual(['dev', [ada]]);
});

describe('the resource', () => {
  test('RFC 7644 §3 a client can create, read, search, replace and delete a group', async () => {
    const client = await scimClient(idctl);
    // Made one after the other, because members are listed in that order.
    const [ada = ''] = await people(client, 'ada');
    const [ben = ''] = await people(client, 'ben');
    const made = await client.send('POST', '/Groups', {
      schemas: [
        groupSchema,
        'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group',
      ],
      displayName: 'Engineering',
      externalId: 'e-1',
      members: [{ value: ada, $ref: null, display: 'Ada L.' }, { value: ben.toUpperCase() }],
    });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      schemas: [groupSchema],
      displayName: 'Engineering',
      externalId: 'e-1',
      members: [
        { value: ada, display: 'Ada L.', type: 'User' },
        { value: ben, display: 'ben' },
      ],
      meta: { resourceType: 'Group', version: 'W/"1"' },
    });
    expect(made.headers['etag']).toBe('W/"1"');
    expect(made.body.members[0].$ref).toBe(`${idctl.baseUrl}${client.base}/Users/${ada}`);
    const at = `/Groups/${made.body.id}`;
    expect((await client.get(at)).body).toEqual(made.body);
    expect((await client.get(at, { 'if-none-match': 'W/"1"' })).status).toBe(304);
    const slim = (await client.get(`${at}?excludedAttributes=members`)).body;
    expect(slim).not.toHaveProperty('members');
    expect((await client.get(`/Users/${ada}`)).body.groups).toMatchObject([
      { value: made.body.id, display: 'Engineering', type: 'direct' },
    ]);
    const inGroup = encodeURIComponent(`groups.value eq "${made.body.id}"`);
    expect((await client.get(`/Users?filter=${inGroup}`)).body.totalResults).toBe(2);
    for (const filter of [
      'displayName eq "ENGINEERING"',
      'externalId eq "e-1"',
      `members.value eq "${ada}"`,
      `members eq "${ada}"`,
      `members[value eq "${ada}"]`,
      `id eq "${made.body.id}"`,
      'displayName sw "eng" and members pr',
      'meta.resourceType eq "Group"',
    ]) {
      const found = await client.get(`/Groups?filter=${encodeURIComponent(filter)}`);
      expect([filter, found.body.totalResults]).toEqual([filter, 1]);
    }
    for (const filter of [
      'externalId eq "E-1"',
      `members.value eq "${made.body.id}"`,
      'members eq "x"',
    ])
      expect(
        (await client.get(`/Groups?filter=${encodeURIComponent(filter)}`)).body.totalResults,
      ).toBe(0);
    expect((await client.get('/Groups?filter=userName%20eq%20%22a%22')).status).toBe(400);
    const search = { filter: 'meta.resourceType eq "Group"', excludedAttributes: 'members' };
    expect((await client.send('POST', '/Groups/.search', search)).body.totalResults).toBe(1);
    const all = (await client.send('POST', '/.search', { count: 2 })).body;
    // The owner has a record, too.
    expect([all.totalResults, all.itemsPerPage]).toEqual([4, 2]);
    const last = (await client.send('POST', '/.search', { startIndex: 4 })).body;
    expect(last.Resources).toMatchObject([{ displayName: 'Engineering' }]);

    const stale = await client.send('PUT', at, { displayName: 'Eng' }, { 'if-match': 'W/"7"' });
    expect(stale.status).toBe(412);
    const put = await client.send('PUT', at, { displayName: 'Eng' }, { 'if-match': 'W/"1"' });
    expect(put.body).toMatchObject({ displayName: 'Eng', members: [] });
    expect(put.body).not.toHaveProperty('externalId');
    expect((await client.send('PUT', at, { members: [] })).status).toBe(400);
    expect((await client.send('DELETE', at)).status).toBe(204);
    expect((await client.get(at)).status).toBe(404);
    expect((await client.events('scim.group.deleted'))[0]).toMatchObject({ data: { members: 0 } });
  });

  test('I4 a group’s name is unique in any letter case; a User of another organization is refused like an unknown one', async () => {
    const client = await scimClient(idctl);
    const other = await scimClient(idctl);
    const [stranger = ''] = await people(other, 'eve');
    const [ada = ''] = await people(client, 'ada');
    const post = (body: object) => client.send('POST', '/Groups', body);
    expect((await post({ displayName: 'Straße' })).status).toBe(201);
    expect((await post({ displayName: 'STRASSE' })).status).toBe(201);
    const again = await post({ displayName: 'straSSe' });
    expect([again.status, again.body.scimType]).toEqual([409, 'uniqueness']);
    for (const displayName of [undefined, '', ' ', 'x'.repeat(257), { a: 1 }])
      expect((await post({ displayName })).status).toBe(400);
    const refusal = async (value: string) => {
      const { status, body } = await post({ displayName: fresh('g'), members: [{ value }] });
      return [status, body.scimType, body.detail.replace(value, 'ID')];
    };
    // I4 A User of another organization is refused like one that does not exist.
    const none = '0199c3a4-7c1e-7d55-8d1f-3f0e8a1b2c3d';
    expect(await refusal(stranger)).toEqual(await refusal(none));
    expect((await refusal(none)).slice(0, 2)).toEqual([400, 'invalidValue']);
    const nested = await post({ displayName: 'n', members: [{ value: ada, type: 'Group' }] });
    expect([nested.status, nested.body.detail]).toEqual([
      400,
      'A Group cannot be a member of a Group. Add its Users.',
    ]);
    expect((await client.get('/Groups?count=0')).body.totalResults).toBe(2);
  });
});

describe('RFC 7644 §3.14 versions', () => {
  test('the ETag of a User changes with its groups; If-Match accepts each of its ETags until the User itself changes', async () => {
    const { client, ada, group, push, patch } = await mapped();
    const at = `/Users/${ada}`;
    const { body: alone } = await client.get(at);
    const known = async (tag: string) => (await client.get(at, { 'if-none-match': tag })).status;
    const tags = [alone.meta.version];
    for (const change of [
      () => push(ada),
      () => patch({ op: 'replace', path: 'displayName', value: 'ops' }),
      () => patch({ op: 'remove', path: 'members' }),
    ]) {
      expect(await known(tags.at(-1))).toBe(304);
      await change();
      expect(await known(tags.at(-1))).toBe(200);
      const { body, headers } = await client.get(at);
      expect(headers['etag']).toBe(body.meta.version);
      tags.push(body.meta.version);
    }
    expect(new Set(tags).size).toBe(3);
    expect(tags[3]).toBe(tags[0]);
    await client.send('PATCH', `/Groups/${group.id}`, {
      Operations: [{ op: 'add', path: 'members', value: [{ value: ada }] }],
    });
    const { body: inside } = await client.get(at);
    const list = await client.get(`/Users?filter=${encodeURIComponent(`id eq "${ada}"`)}`);
    expect(list.body.Resources[0].meta).toEqual(inside.meta);
    const { meta } = inside;
    const same = await client.patch(ada, { op: 'replace', value: { meta, groups: [] } });
    expect([same.status, same.body.meta]).toEqual([200, meta]);
    const put = { userName: inside.userName, displayName: 'Ada' };
    for (const tag of [tags[1], meta.version, tags[0]]) {
      const changed = await client.send('PUT', at, put, { 'if-match': tag });
      expect(changed.status).toBe(tag === tags[1] ? 200 : 412);
    }
  });

  test('a deleted account leaves its groups, whose ETag changes', async () => {
    const { client, org, ada, ben, group, push } = await mapped();
    const { body } = await push(ada, ben);
    await deleteUser(idctl.operator(), { user: `ada@${org}.test` });
    const at = `/Groups/${group.id}`;
    const after = await client.get(at, { 'if-none-match': body.meta.version });
    expect([after.status, ids(after.body)]).toEqual([200, [ben]]);
  });
});

describe('the requests of providers', () => {
  test('Okta can push a group, change its members, and rename and delete it', async () => {
    const client = await scimClient(idctl);
    const [ada = '', ben = ''] = await people(client, 'ada', 'ben');
    const look = await client.get(
      '/Groups?filter=displayName%20eq%20%22Test%20SCIMv2%22&startIndex=1&count=100',
    );
    expect(look.body).toMatchObject({ totalResults: 0, Resources: [] });
    const { status, body } = await client.send(
      'POST',
      '/Groups',
      {
        schemas: [groupSchema],
        displayName: 'Test SCIMv2',
        members: [{ value: ada, display: 'ada@x.test' }],
      },
      { 'content-type': 'application/json' },
    );
    expect([status, ids(body)]).toEqual([201, [ada]]);
    const patch = (...Operations: object[]) =>
      client.send('PATCH', `/Groups/${body.id}`, { schemas: [patchSchema], Operations });
    const renamed = { id: body.id, displayName: 'Test SCIMv2!' };
    expect((await patch({ op: 'replace', value: renamed })).status).toBe(204);
    const both = [
      { op: 'remove', path: `members[value eq "${ada}"]` },
      { op: 'add', path: 'members', value: [{ value: ben, display: 'ben@x.test' }] },
    ];
    const changed = await patch(...both);
    expect([changed.status, changed.headers['etag']]).toEqual([204, 'W/"3"']);
    const now = (await client.get(`/Groups/${body.id}`)).body;
    expect([now.displayName, ids(now)]).toEqual(['Test SCIMv2!', [ben]]);
    expect((await client.get('/Groups?startIndex=1&count=100')).body).toMatchObject({
      totalResults: 1,
      itemsPerPage: 1,
    });
    await patch({ op: 'replace', path: 'members', value: [{ value: ada }, { value: ben }] });
    await patch({ op: 'add', path: 'externalId', value: 'e-1' });
    expect(ids((await client.get(`/Groups/${body.id}`)).body)).toEqual([ada, ben].sort());
    expect((await client.send('DELETE', `/Groups/${body.id}`)).status).toBe(204);
    const events = await client.events('scim.group.updated');
    const same = { renamed: null, externalId: null };
    expect(events.map(({ data }) => data)).toEqual([
      { ...same, added: 0, removed: 0, renamed: { from: 'Test SCIMv2', to: 'Test SCIMv2!' } },
      { ...same, added: 1, removed: 1 },
      { ...same, added: 1, removed: 0 },
      { ...same, added: 0, removed: 0, externalId: { from: null, to: 'e-1' } },
    ]);
  });

  test('Entra can create a group without members, use its own operation names, and read a group without members', async () => {
    const client = await scimClient(idctl);
    const [ada = '', ben = ''] = await people(client, 'ada', 'ben');
    const look = await client.get(
      '/Groups?excludedAttributes=members&filter=displayName%20eq%20%22none%22',
    );
    expect(look.body.totalResults).toBe(0);
    const made = await client.send('POST', '/Groups', {
      schemas: [
        groupSchema,
        'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group',
      ],
      externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
      displayName: 'displayName',
      meta: { resourceType: 'Group' },
    });
    expect([made.status, made.body.members]).toEqual([201, []]);
    const at = `/Groups/${made.body.id}`;
    const patch = (...Operations: object[]) =>
      client.send('PATCH', at, { schemas: [patchSchema], Operations });
    const word = (op: string, path: string, value: unknown) => patch({ op, path, value });
    expect((await word('Add', 'members', [{ $ref: null, value: ada }])).status).toBe(204);
    expect((await word('Add', 'members', [{ $ref: null, value: ben }])).status).toBe(204);
    // Adding the same member again changes nothing.
    const same = await word('Add', 'members', [{ $ref: null, value: ben }]);
    expect(same.headers['etag']).toBe('W/"3"');
    expect((await word('Replace', 'displayName', '1879db59')).status).toBe(204);
    expect((await word('Remove', 'members', [{ $ref: null, value: ada }])).status).toBe(204);
    expect((await word('Remove', 'members', [{ value: ada }])).headers['etag']).toBe('W/"5"');
    expect((await word('Remove', 'members', [])).headers['etag']).toBe('W/"5"');
    expect(ids((await client.get(at)).body)).toEqual([ben]);
    const found = await client.get(`/Groups/${made.body.id}?excludedAttributes=members`);
    expect(found.body).not.toHaveProperty('members');
    expect((await patch({ op: 'Remove', path: 'members' })).status).toBe(204);
    expect((await client.get(at)).body.members).toEqual([]);
    const shown = await client.send('PATCH', `${at}?attributes=members`, {
      Operations: [{ op: 'add', value: { members: [{ value: ada }] } }],
    });
    expect([shown.status, ids(shown.body)]).toEqual([200, [ada]]);
  });

  test('a member may be JSON text inside a string, as SCIM-SDK sends it', async () => {
    const { client, group, ada, ben, patch, push } = await mapped();
    const text = (value: string) => JSON.stringify({ value, type: 'User' });
    expect(
      (await patch({ op: 'add', path: 'members', value: [text(ada), text(ben)] })).status,
    ).toBe(204);
    expect(ids((await client.get(`/Groups/${group.id}`)).body)).toEqual([ada, ben].sort());
    expect((await patch({ op: 'remove', path: 'members', value: text(ada) })).status).toBe(204);
    expect(ids((await client.get(`/Groups/${group.id}`)).body)).toEqual([ben]);
    const wrong = [
      '{"value":',
      '{"other":1}',
      text('not an id'),
      `{"value":"${'x'.repeat(3000)}"}`,
    ];
    for (const value of wrong)
      expect((await patch({ op: 'add', path: 'members', value: [value] })).status).toBe(400);
    await push();
  });

  test('a PATCH with one invalid operation is refused as a whole', async () => {
    const { client, group, ada, ben, patch } = await mapped();
    const refused = async (...operations: object[]) => {
      const { status, body } = await patch(...operations);
      return `${status} ${body.scimType}`;
    };
    const add = { op: 'add', path: 'members', value: [{ value: ada }] };
    expect(await refused(add, { op: 'remove' })).toBe('400 noTarget');
    expect(await refused(add, { op: 'remove', path: 'displayName' })).toBe('400 mutability');
    expect(await refused(add, { op: 'replace', path: 'nothing', value: 1 })).toBe(
      '400 invalidPath',
    );
    expect(await refused(add, { op: 'replace', value: { id: 'x' } })).toBe('400 mutability');
    for (const path of ['id', 'meta', 'meta.created', 'schemas', 'meta[version eq "x"]'])
      expect([path, await refused(add, { op: 'replace', path, value: 'x' })]).toEqual([
        path,
        '400 mutability',
      ]);
    expect(await refused({ op: 'remove', path: 'members[display eq "x"]' })).toBe(
      '400 invalidFilter',
    );
    expect(await refused({ op: 'add', path: 'members', value: [{ value: 'x' }] })).toBe(
      '400 invalidValue',
    );
    const another = { path: `members[value eq "${ada}"]`, value: { value: ben } };
    expect(await refused({ op: 'replace', ...another })).toBe('400 mutability');
    expect((await client.get(`/Groups/${group.id}`)).body.members).toEqual([]);
  });

  test('authentik may send 10,000 operations in one request, and no more', async () => {
    const { client, ada, ben, group, patch } = await mapped();
    const one = (value: string, op: string) => ({ op, path: 'members', value: [{ value }] });
    const operations = Array.from({ length: 9_999 }, (_, at) =>
      one(at % 2 ? ada : ben, at % 4 < 2 ? 'add' : 'remove'),
    );
    expect((await patch(...operations, one(ada, 'add'))).status).toBe(204);
    expect(ids((await client.get(`/Groups/${group.id}`)).body)).toEqual([ada]);
    expect((await patch(...operations, ...operations)).status).toBe(400);
  });
});

describe('groups as a source of roles', () => {
  test.each([true, false])(
    'I7 a SCIM group gives and removes a role immediately, with autoRemove %s',
    async (autoRemove) => {
      const { client, org, ada, ben, roles, patch, push } = await mapped();
      const registered = { issuer: 'https://idp.test', clientId: 'c', clientSecret: 's' };
      const emailDomain = await verifiedDomain(idctl, org);
      const connection = { ...registered, emailDomain, enabled: true, autoRemove };
      await saveSso(idctl.operator(), saveSsoInput.parse({ org, ...connection }));
      await push(ada, ben);
      expect(await roles()).toEqual({ ada: 'member', ben: 'member' });
      await patch({ op: 'remove', path: `members[value eq "${ben}"]` });
      expect(await roles()).toEqual({ ada: 'member' });
      await patch({ op: 'replace', path: 'displayName', value: 'Dev' });
      expect(await roles()).toEqual({});
      await patch({ op: 'replace', path: 'externalId', value: 'dev' });
      expect(await roles()).toEqual({ ada: 'member' });
      const kinds = await client.events('scim.groups.synced');
      expect(kinds.at(-1)).toMatchObject({
        subject: { name: 'ada' },
        data: { adds: [{ role: 'member', because: { group: 'dev', source: 'scim' } }] },
      });
    },
  );

  test('I7 mappings added and removed take effect at once for members of a SCIM group; manual memberships stay', async () => {
    const { org, ada, ben, mapping, roles, push } = await mapped('viewer');
    await push(ada, ben);
    const user = `ben@${org}.test`;
    await putProjectMember(idctl.operator(), { org, project: 'web', user, role: 'commenter' });
    const high = await addMapping(idctl.operator(), {
      org,
      group: 'dev',
      project: 'web',
      role: 'admin',
    });
    expect(await roles()).toEqual({ ada: 'admin', ben: 'commenter manual' });
    await removeMapping(idctl.operator(), { org, id: high.id });
    expect(await roles()).toEqual({ ada: 'viewer', ben: 'commenter manual' });
    await removeMapping(idctl.operator(), { org, id: mapping.id });
    expect(await roles()).toEqual({ ben: 'commenter manual' });
  });

  test('I5 a deactivated person stays in the group without a role, and gets the role back when active again', async () => {
    const { client, ada, group, roles, push } = await mapped();
    await push(ada);
    await client.patch(ada, { op: 'replace', value: { active: false } });
    expect(await roles()).toEqual({});
    expect(ids((await client.get(`/Groups/${group.id}`)).body)).toEqual([ada]);
    await client.patch(ada, { op: 'replace', value: { active: true } });
    expect(await roles()).toEqual({ ada: 'member' });
  });

  test('O3 O8 a mapping changes only synced roles in the organization, never an owner’s; a pushed person who leaves the group stays a member', async () => {
    const { org, ben, push, client } = await mapped();
    const map = (orgRole: 'admin' | 'member') =>
      addMapping(idctl.operator(), { org, group: 'dev', orgRole });
    const { id } = await map('admin');
    const members = async () => {
      const { items } = await listMembers(idctl.operator(), { org, limit: 200 });
      return Object.fromEntries(
        items.map((one) => [
          one.email?.split('@')[0] ?? '',
          `${one.role}${one.synced ? '' : ' manual'}`,
        ]),
      );
    };
    const owner = Object.entries(await members()).find(([, role]) => role.startsWith('owner'));
    const who = `ben@${org}.test`;
    await changeMemberRole(idctl.operator(), { org, user: who, role: 'member' });
    const all = (await client.get('/Users')).body.Resources.map((one: { id: string }) => one.id);
    await push(...all);
    expect(await members()).toEqual({
      [owner?.[0] ?? '']: 'owner manual',
      ada: 'admin',
      ben: 'member manual',
    });
    const { items } = await listMembers(idctl.operator(), { org, limit: 200 });
    const origin = items.find(({ email }) => email === `ada@${org}.test`)?.origin;
    expect(origin).toMatchObject({ kind: 'scim', group: 'dev', source: 'scim', mappingId: id });
    await push(ben);
    expect((await members())['ada']).toBe('member');
    expect(await client.events('member.role.changed')).toMatchObject([
      { data: { from: 'member', to: 'admin', because: { group: 'dev' } } },
      { data: { from: 'admin', to: 'member', because: null } },
    ]);
  });

  test('I4 removing a mapping names the people who lose its role, in projects and the organization, as the client named them', async () => {
    const { org, ada, ben, mapping, push } = await mapped('viewer');
    const it = await addMapping(idctl.operator(), { org, group: 'dev', orgRole: 'admin' });
    await push(ada, ben);
    const own = `secret@${org}.test`;
    await transaction(() =>
      execute('UPDATE accounts SET email = $1 WHERE email = $2', [own, `ben@${org}.test`]),
    );
    const named = ['ada', 'ben'].map((name) => ({ user: `${name}@${org}.test` }));
    const removed = async (id: string) =>
      (await removeMapping(idctl.operator(), { org, id })).affected.toSorted((one, other) =>
        one.user < other.user ? -1 : 1,
      );
    expect(await removed(it.id)).toEqual(named.map((one) => ({ ...one, role: 'admin' })));
    expect(await removed(mapping.id)).toEqual(
      named.map((one) => ({ ...one, project: 'web', role: 'viewer' })),
    );
  });

  test('a push of many people is answered first, and a job assigns the roles later', async () => {
    const { client, org, roles, push, group } = await mapped();
    const names = Array.from({ length: 120 }, (_, at) => `p${at}`);
    const members = await people(client, ...names);
    await push(...members);
    expect(await roles()).toEqual({});
    await planWaiting(idctl.operator(), { anew: () => idctl.operator() });
    expect(Object.keys(await roles())).toHaveLength(120);
    await client.send('DELETE', `/Groups/${group.id}`);
    await planWaiting(idctl.operator(), { anew: () => idctl.operator() });
    expect(await roles()).toEqual({});
    expect(await client.events('scim.groups.planned')).toMatchObject([
      { data: { people: 120, changed: 120 } },
      { data: { people: 120, changed: 120 } },
    ]);
    const again = await previewMappings(idctl.operator(), {
      org,
      user: `p1@${org}.test`,
      groups: ['dev'],
    });
    expect(again.groups).toEqual([{ group: 'dev', source: 'claim' }]);
  }, 180_000);

  test('the preview names the source of each group; given groups replace only those of the claim', async () => {
    const { org, ada, mapping, push } = await mapped();
    await addMapping(idctl.operator(), { org, group: 'ops', project: 'web', role: 'admin' });
    await push(ada);
    const user = `ada@${org}.test`;
    const preview = await previewMappings(idctl.operator(), { org, user });
    expect(preview).toMatchObject({
      adds: [],
      changes: [],
      groups: [{ group: 'dev', source: 'scim' }],
    });
    const given = await previewMappings(idctl.operator(), { org, user, groups: ['ops'] });
    expect(given.groups).toEqual([
      { group: 'ops', source: 'claim' },
      { group: 'dev', source: 'scim' },
    ]);
    expect(given.changes).toMatchObject([
      { from: 'member', to: 'admin', because: { source: 'claim' } },
    ]);
    const none = await previewMappings(idctl.operator(), {
      org,
      user: `ben@${org}.test`,
      groups: ['dev'],
    });
    expect(none.adds).toMatchObject([{ because: { mapping: mapping.id, source: 'claim' } }]);
  });
});

test('concurrent PATCHes of one group, and of a group and a person, lose nothing and do not deadlock', async () => {
  const { client, group, roles, patch } = await mapped();
  const members = await people(client, ...Array.from({ length: 12 }, (_, at) => `c${at}`));
  const all = await Promise.all([
    ...members.map((value) => patch({ op: 'add', path: 'members', value: [{ value }] })),
    ...members
      .slice(0, 6)
      .flatMap((id) => [
        client.patch(id, { op: 'replace', value: { active: false } }),
        client.patch(id, { op: 'replace', path: 'displayName', value: fresh('name') }),
      ]),
  ]);
  expect(all.map(({ status }) => status).filter((status) => status >= 300)).toEqual([]);
  expect(ids((await client.get(`/Groups/${group.id}`)).body)).toEqual(members.toSorted());
  expect(Object.keys(await roles()).sort()).toEqual(['c6', 'c7', 'c8', 'c9', 'c10', 'c11'].sort());
  const gone = await Promise.all([
    ...members.map((value) => patch({ op: 'remove', path: `members[value eq "${value}"]` })),
    ...members
      .slice(0, 6)
      .map((id) => client.patch(id, { op: 'replace', value: { active: true } })),
  ]);
  expect(gone.map(({ status }) => status).filter((status) => status >= 300)).toEqual([]);
  expect(await roles()).toEqual({});
});

test('a large group is returned whole, or with only the requested attributes', async () => {
  const client = await scimClient(idctl);
  const names = Array.from({ length: 260 }, (_, at) => `m${at}`);
  const members = (await people(client, ...names)).map((value) => ({ value }));
  const { body } = await client.send('POST', '/Groups', { displayName: 'all', members });
  expect(body.members).toHaveLength(260);
  const list = (await client.get('/Groups')).body;
  expect(list.Resources).toMatchObject([{ displayName: 'all' }]);
  expect(list.Resources[0].members).toEqual(body.members);
  const values = await client.get(`/Groups/${body.id}?attributes=members.value`);
  expect(values.body.members[0]).toEqual({ value: body.members[0].value });
  const hidden = await client.get('/Groups?excludedAttributes=members');
  expect(hidden.body.Resources[0]).not.toHaveProperty('members');
  // In a search of everything, a filter on attributes of Groups does not find Users.
  const search = await client.send('POST', '/.search', {
    filter: `members eq "${members[0]?.value}"`,
  });
  expect(search.body.totalResults).toBe(1);
  expect((await client.send('POST', '/.search', { filter: 'nothing pr' })).status).toBe(400);
}, 180_000);

test('doctor names mapped groups that SCIM does not push', async () => {
  const { client, org } = await mapped();
  const { organization } = await requireAuthority(idctl.operator(), 'mappings.see', org);
  const found = async () =>
    (await checkStored(idctl.operator(), [organization])).find(({ name }) =>
      name.startsWith('group mappings'),
    );
  expect(await found()).toMatchObject({ ok: true });
  await addMapping(idctl.operator(), { org, group: 'Dev', orgRole: 'member' });
  expect(await found()).toMatchObject({ ok: false, message: 'SCIM does not push "Dev"' });
  await client.send('POST', '/Groups', { displayName: 'x', externalId: 'Dev' });
  expect(await found()).toMatchObject({ ok: true });
});
