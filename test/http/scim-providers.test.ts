import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { listMembers } from '../../src/services/tenancy/memberships/operations.ts';
import { fresh } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { filtered, type ScimClient, scimClient } from '../support/scim-client.ts';

// Sends the requests of each provider, from the connection test to the last deactivation.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

const core = 'urn:ietf:params:scim:schemas:core:2.0:User';
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const patchOp = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const address = () => `${fresh('ada')}@elsewhere.test`;

async function isMember(client: ScimClient, email: string): Promise<boolean> {
  const { items } = await listMembers(idctl.operator(), { org: client.org.slug, limit: 200 });
  return items.some((member) => member.email === email);
}

test('Entra ID can create, change, deactivate and delete a person, and create the person again', async () => {
  const client = await scimClient(idctl);
  const ask = (filter: string) => client.get(filtered(filter));
  // Entra sends these as its connection test and before every creation. No match is 200.
  for (const filter of [
    `userName eq "${crypto.randomUUID()}"`,
    `externalId eq "${crypto.randomUUID()}"`,
    `emails[type eq "work"].value eq "${crypto.randomUUID()}"`,
  ]) {
    expect(await ask(filter)).toMatchObject({
      status: 200,
      body: { totalResults: 0, Resources: [] },
    });
  }
  const userName = address();
  const created = await client.send('POST', '/Users', {
    schemas: [core, enterprise],
    externalId: 'b.simon',
    userName,
    active: true,
    displayName: 'B Simon',
    emails: [{ type: 'work', value: userName, primary: true }],
    meta: { resourceType: 'User' },
    name: { formatted: 'B Simon', familyName: 'Simon', givenName: 'B' },
    nickName: null,
    roles: [],
    title: null,
  });
  expect(created.status).toBe(201);
  const { id } = created.body;
  expect(created.body).not.toHaveProperty('title');
  expect((await ask(`emails[type eq "work"].value eq "${userName}"`)).body.Resources).toMatchObject(
    [{ id }],
  );
  expect(
    (await client.get(`/Users/${id}?attributes=emails%5Btype%20eq%20%22work%22%5D`)).body.emails,
  ).toHaveLength(1);

  const changed = await client.send('PATCH', `/Users/${id}`, {
    schemas: [patchOp],
    Operations: [
      { op: 'Add', path: `${enterprise}:manager`, value: [{ $ref: 'x', value: 'manager-1' }] },
      { op: 'Replace', path: 'emails[type eq "work"].value', value: `new.${userName}` },
      { op: 'Add', path: 'emails[type eq "home"].value', value: `home.${userName}` },
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555 0100' },
      {
        op: 'Replace',
        value: {
          displayName: 'Bjarne Simon',
          'name.givenName': 'Bjarne',
          [`${enterprise}:department`]: 'Engineering',
        },
      },
    ],
  });
  expect(changed).toMatchObject({
    status: 200,
    body: {
      displayName: 'Bjarne Simon',
      name: { givenName: 'Bjarne', familyName: 'Simon' },
      emails: [
        { type: 'work', value: `new.${userName}`, primary: true },
        { type: 'home', value: `home.${userName}` },
      ],
      phoneNumbers: [{ type: 'mobile', value: '+1 555 0100' }],
      [enterprise]: { department: 'Engineering', manager: { value: 'manager-1' } },
    },
  });
  // Whatever the record says now, the account keeps its address.
  expect(await Account.count({ where: { email: userName } })).toBe(1);

  const disabled = await client.patch(id, { op: 'Replace', path: 'active', value: 'False' });
  expect(disabled).toMatchObject({ status: 200, body: { active: false } });
  expect(await isMember(client, userName)).toBe(false);
  expect(
    (await client.patch(id, { op: 'Replace', path: 'active', value: 'True' })).body.active,
  ).toBe(true);

  const tombstone = `${'0123456789abcdef'.repeat(2)}${userName}`;
  const deleted = await client.patch(
    id,
    { op: 'Replace', path: 'active', value: 'False' },
    { op: 'Replace', path: 'userName', value: tombstone },
  );
  expect(deleted).toMatchObject({ status: 200, body: { active: false, userName: tombstone } });
  expect((await client.send('DELETE', `/Users/${id}`)).status).toBe(204);
  const back = await client.send('POST', '/Users', {
    schemas: [core, enterprise],
    userName,
    active: true,
  });
  expect(back).toMatchObject({ status: 201, body: { id, userName, active: true } });
  expect(await isMember(client, userName)).toBe(true);
});

test('Okta can look up, create, change, deactivate and reactivate a person', async () => {
  const client = await scimClient(idctl);
  const json = { 'content-type': 'application/json', accept: 'application/scim+json' };
  const first = (await client.get('/Users?startIndex=1&count=2')).body;
  expect(first).toMatchObject({ totalResults: 1, startIndex: 1, itemsPerPage: 1 });
  expect(first.Resources[0]).toMatchObject({
    id: expect.stringMatching(/./),
    name: { givenName: expect.stringMatching(/./), familyName: expect.stringMatching(/./) },
    userName: expect.stringMatching(/./),
    active: true,
    emails: [{ value: expect.stringMatching(/@/) }],
  });
  expect((await client.get('/Users/010101001010101011001010101011')).body).toMatchObject({
    status: '404',
  });
  const userName = address();
  expect(
    (await client.get(filtered(`userName Eq "${userName.toUpperCase()}"`))).body.totalResults,
  ).toBe(0);
  const user = {
    schemas: [core],
    userName,
    name: { givenName: 'Test', familyName: 'User' },
    emails: [{ primary: true, value: userName, type: 'work' }],
    displayName: 'Test User',
    locale: 'en-US',
    externalId: '00ujl29u0le5T6Aj10h7',
    groups: [],
    password: '1mz050nq',
    active: true,
  };
  const created = await client.send('POST', '/Users', user, json);
  expect(created).toMatchObject({
    status: 201,
    body: { active: true, externalId: user.externalId },
  });
  expect(JSON.stringify(created.body)).not.toContain(user.password);
  const { id } = created.body;
  expect((await client.send('POST', '/Users', user, json)).body).toMatchObject({
    status: '409',
    scimType: 'uniqueness',
  });
  expect((await client.get(filtered(`username EQ "${userName}"`))).body.Resources).toMatchObject([
    { id },
  ]);
  const renamed = {
    ...user,
    id,
    name: { givenName: 'Another', familyName: 'User' },
    meta: created.body.meta,
  };
  expect((await client.send('PUT', `/Users/${id}`, renamed, json)).body.name.givenName).toBe(
    'Another',
  );
  const off = { schemas: [patchOp], Operations: [{ op: 'replace', value: { active: false } }] };
  expect(await client.send('PATCH', `/Users/${id}`, off, json)).toMatchObject({
    status: 200,
    body: { active: false },
  });
  expect(await isMember(client, userName)).toBe(false);
  expect(await client.get(`/Users/${id}`)).toMatchObject({ status: 200, body: { active: false } });
  expect((await client.get('/Users?startIndex=1&count=100')).body.totalResults).toBe(2);
  const on = { schemas: [patchOp], Operations: [{ op: 'replace', value: { active: true } }] };
  expect((await client.send('PATCH', `/Users/${id}`, on, json)).body.active).toBe(true);
  expect(await isMember(client, userName)).toBe(true);
});

test('OneLogin and JumpCloud can look up and create a person like Okta, and deactivate one with PUT', async () => {
  const client = await scimClient(idctl);
  const userName = address();
  expect((await client.get('/ServiceProviderConfig')).status).toBe(200);
  const { id } = await client.create({ schemas: [core], userName, active: true });
  expect((await client.get(filtered(`userName eq "${userName}"`))).body.Resources).toMatchObject([
    { id },
  ]);
  for (const active of [false, true, false]) {
    const answer = await client.send('PUT', `/Users/${id}`, { schemas: [core], userName, active });
    expect(answer).toMatchObject({ status: 200, body: { id, active } });
    expect(await isMember(client, userName)).toBe(active);
  }
});

test('Ping can change people with PUT, and look them up by e-mail', async () => {
  const client = await scimClient(idctl);
  const email = address();
  const by = filtered(`emails eq "${email.toUpperCase()}"`);
  expect((await client.get(by)).body.totalResults).toBe(0);
  const { id } = await client.create({
    userName: fresh('ping'),
    emails: [{ value: email, type: 'work' }],
  });
  expect((await client.get(by)).body.Resources).toMatchObject([{ id }]);
  const put = (active: boolean) =>
    client.send('PUT', `/Users/${id}`, { emails: [{ value: email }], active });
  expect((await put(false)).body.active).toBe(false);
  expect((await put(true)).body.active).toBe(true);
  expect((await put(false)).status).toBe(200);
  expect(await isMember(client, email)).toBe(false);
});

test('Google can read the schemas, and delete a person weeks after the suspension', async () => {
  const client = await scimClient(idctl);
  const { Resources } = (await client.get('/Schemas')).body;
  expect(Resources.map(({ id }: { id: string }) => id)).toEqual(
    expect.arrayContaining([core, enterprise]),
  );
  const { id, userName } = await client.create({
    userName: address(),
    name: { givenName: 'G', familyName: 'W' },
  });
  await client.patch(id, { op: 'replace', path: 'active', value: false });
  idctl.wait(20 * 86_400);
  expect((await client.send('DELETE', `/Users/${id}`)).status).toBe(204);
  expect((await client.send('DELETE', `/Users/${id}`)).status).toBe(204);
  expect(await isMember(client, userName)).toBe(false);
});

test('Rippling can look people up by externalId', async () => {
  const client = await scimClient(idctl);
  const externalId = fresh('rip');
  const by = filtered(`externalId eq "${externalId}"`);
  expect((await client.get(by)).body.totalResults).toBe(0);
  const { id } = await client.create({ userName: address(), externalId });
  expect((await client.get(by)).body.Resources).toMatchObject([{ id, externalId }]);
});

test('authentik may look a person up with EQ in capitals, after a 409 with a scimType', async () => {
  const client = await scimClient(idctl);
  const userName = address();
  const { id } = await client.create({ userName });
  const taken = await client.send('POST', '/Users', { userName });
  expect(taken).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
  expect((await client.get(filtered(`userName EQ "${userName}"`))).body.Resources).toMatchObject([
    { id },
  ]);
  const put = {
    schemas: [core],
    userName,
    name: { formatted: ' ' },
    active: true,
    photos: [],
    externalId: 'uuid',
  };
  expect((await client.send('PUT', `/Users/${id}`, put)).body.externalId).toBe('uuid');
  expect((await client.send('DELETE', `/Users/${id}`)).status).toBe(204);
});

test('Keycloak plugins may send booleans as strings, and PATCH without schemas', async () => {
  const client = await scimClient(idctl);
  const userName = address();
  const { id, active } = await client.create({
    userName,
    active: 'true',
    emails: [{ value: userName, primary: 'true' }],
  });
  expect(active).toBe(true);
  expect((await client.get(filtered(`userName eq ${userName}`))).body.Resources).toMatchObject([
    { id },
  ]);
  const off = await client.send('PATCH', `/Users/${id}`, {
    Operations: [{ op: 'REPLACE', path: 'ACTIVE', value: 'false' }],
  });
  expect(off).toMatchObject({ status: 200, body: { active: false } });
  expect(await isMember(client, userName)).toBe(false);
});

test('scripts can look people up by the first letter of the userName', async () => {
  const client = await scimClient(idctl);
  await client.create({ userName: 'Olga@elsewhere.test' });
  await client.create({ userName: 'ada@elsewhere.test' });
  expect((await client.get(filtered('userName sw O'))).body).toMatchObject({ totalResults: 1 });
});

test('PingOne may send two primary e-mails, PUT with id and meta, and create a deactivated person again', async () => {
  const client = await scimClient(idctl);
  const userName = address();
  const user = {
    schemas: [core],
    userName,
    name: { givenName: 'Ping', familyName: 'One' },
    emails: [
      { value: userName, type: 'work', primary: true },
      { value: `home.${userName}`, type: 'home', primary: true },
    ],
    phoneNumbers: [{ value: '', type: 'work' }],
    active: true,
  };
  const created = await client.send('POST', '/Users', user);
  expect(created).toMatchObject({
    status: 201,
    body: { emails: [{ primary: true }, { value: `home.${userName}`, primary: false }] },
  });
  expect(created.body).not.toHaveProperty('phoneNumbers');
  const { id, meta } = created.body;
  const off = { ...user, id, meta, active: false };
  expect(await client.send('PUT', `/Users/${id}`, off)).toMatchObject({
    status: 200,
    body: { active: false },
  });
  expect(await isMember(client, userName)).toBe(false);
  const again = await client.send('POST', '/Users', { ...user, active: false });
  expect(again).toMatchObject({ status: 201, body: { id, active: false } });
  expect(await isMember(client, userName)).toBe(false);
});

test.each([
  ['without its compliance flag', { department: 'Sales', manager: [{ value: 'boss-1' }] }],
  [
    'with its compliance flag',
    { [`${enterprise}:department`]: 'Sales', [`${enterprise}:manager`]: { value: 'boss-1' } },
  ],
])('Entra ID %s can add and clear enterprise attributes', async (_, value) => {
  const client = await scimClient(idctl);
  const { id } = await client.create({ schemas: [core], userName: address(), active: true });
  const added = await client.patch(id, { op: 'Add', value });
  expect(added).toMatchObject({
    status: 200,
    body: { [enterprise]: { department: 'Sales', manager: { value: 'boss-1' } } },
  });
  const [manager = ''] = Object.keys(value).filter((name) => name.endsWith('manager'));
  const cleared = await client.patch(
    id,
    { op: 'Replace', path: manager, value: '' },
    { op: 'Remove', path: 'emails[type eq "other"]' },
    { op: 'Add', path: 'department', value: 'Support' },
  );
  expect(cleared).toMatchObject({ status: 200, body: { [enterprise]: { department: 'Support' } } });
  expect(cleared.body[enterprise]).not.toHaveProperty('manager');
});

test('SailPoint may repeat id and meta in a value without a path, and clear an attribute with an empty value', async () => {
  const client = await scimClient(idctl);
  const userName = address();
  const created = await client.create({
    schemas: [core, enterprise],
    userName,
    emails: [{ value: userName, type: 'work', primary: true }],
    [enterprise]: { manager: { value: 'boss-1' } },
    active: true,
  });
  const { id, meta } = created;
  const changed = await client.patch(id, {
    op: 'replace',
    value: { id, meta, displayName: 'Sail', [enterprise]: { manager: { value: '' } } },
  });
  expect(changed).toMatchObject({ status: 200, body: { displayName: 'Sail' } });
  expect(changed.body).not.toHaveProperty([enterprise]);
  const foreign = { op: 'replace', value: { id: crypto.randomUUID(), displayName: 'X' } };
  expect(await client.patch(id, foreign)).toMatchObject({
    status: 400,
    body: { scimType: 'mutability' },
  });
});
