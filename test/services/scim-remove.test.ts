import { afterAll, beforeAll, expect, test } from 'vitest';
import { listScimUsers } from '../../src/services/provisioning/scim/list/records.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { fresh } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { filtered, scimClient } from '../support/scim-client.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ scim: { deleteMode: 'remove' } });
});
afterAll(() => idctl.close());

test('RFC 7644 §3.6 with scim.deleteMode: remove, a deleted User is deactivated and the client no longer sees it', async () => {
  const client = await scimClient(idctl);
  const userName = `${fresh('ada')}@elsewhere.test`;
  const { id } = await client.create({ userName });
  expect((await client.send('DELETE', `/Users/${id}`)).status).toBe(204);
  for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
    const body = method === 'PUT' ? { userName } : { Operations: [] };
    expect(
      (await client.send(method, `/Users/${id}`, method.startsWith('P') ? body : undefined)).status,
    ).toBe(404);
  }
  expect((await client.get(filtered(`userName eq "${userName}"`))).body.totalResults).toBe(0);
  expect((await client.get('/Users')).body.totalResults).toBe(1);
  const { items } = await listScimUsers(idctl.operator(), { org: client.org.slug, limit: 50 });
  expect(items.map((user) => user.userName)).not.toContain(userName);
  expect(await client.events('scim.user.deactivated')).toHaveLength(1);
});

test('an inactive User can be deleted too, and is listed again after it is created again', async () => {
  const client = await scimClient(idctl);
  const userName = `${fresh('ada')}@elsewhere.test`;
  const { id } = await client.create({ userName, active: false });
  expect((await client.send('DELETE', `/Users/${id}`)).status).toBe(204);
  expect(await client.create({ userName, active: false })).toMatchObject({ active: false });
  expect((await client.get(filtered(`userName eq "${userName}"`))).body.totalResults).toBe(1);
  expect((await client.get('/Users')).body.totalResults).toBe(2);
});

test('the client sees a deleted User again after an admin adds the person as a member', async () => {
  const client = await scimClient(idctl);
  const userName = `${fresh('ada')}@elsewhere.test`;
  const { id } = await client.create({ userName });
  await client.send('DELETE', `/Users/${id}`);
  await addMember(idctl.operator(), { org: client.org.slug, email: userName, role: 'member' });
  expect((await client.get(`/Users/${id}`)).body.active).toBe(true);
});

test('Microsoft’s validator removes absent values, then adds them, and expects 404 for a deleted User', async () => {
  const client = await scimClient(idctl);
  const { id } = await client.create({ userName: `${fresh('ada')}@elsewhere.test` });
  const path = 'emails[type eq "work"]';
  const value = `${fresh('work')}@elsewhere.test`;
  const changed = await client.patch(
    id,
    { op: 'remove', path },
    { op: 'remove', path: 'phoneNumbers[type eq "mobile"].value' },
    { op: 'add', path: `${path}.value`, value },
    { op: 'replace', path: 'emails[type eq "work"].primary', value: true },
  );
  expect(changed).toMatchObject({
    status: 200,
    body: { emails: [{ type: 'work', value, primary: true }] },
  });
  expect((await client.send('DELETE', `/Users/${id}`)).status).toBe(204);
  expect((await client.get(`/Users/${id}`)).status).toBe(404);
});

test('a deleted User is removed from all groups, and a later POST restores the User without groups', async () => {
  const client = await scimClient(idctl);
  const userName = `${fresh('ada')}@elsewhere.test`;
  const { id: value } = await client.create({ userName });
  const members = [{ value }];
  const { body } = await client.send('POST', '/Groups', { displayName: 'dev', members });
  await client.send('DELETE', `/Users/${value}`);
  const after = await client.get(`/Groups/${body.id}`, { 'if-none-match': body.meta.version });
  expect(after.body.members).toEqual([]);
  const gone = await client.send('PUT', `/Groups/${body.id}`, { displayName: 'dev', members });
  expect([gone.status, gone.body.scimType]).toEqual([400, 'invalidValue']);
  expect((await client.create({ userName })).id).toBe(value);
  expect((await client.get(`/Users/${value}`)).body).not.toHaveProperty('groups');
});
