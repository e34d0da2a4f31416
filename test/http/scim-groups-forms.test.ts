import { afterAll, beforeAll, expect, test } from 'vitest';
import { execute } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import {
  listScimGroupMembers,
  listScimGroups,
} from '../../src/services/provisioning/scim/groups/admin.ts';
import { fresh, person } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type ScimClient, scimClient } from '../support/scim-client.ts';

let idctl: Idctl;
let client: ScimClient;
beforeAll(async () => {
  idctl = await openIdctl();
  client = await scimClient(idctl);
});
afterAll(() => idctl.close());

test('the body of a change is checked before the group is looked up', async () => {
  const operation = { op: 'add', path: 'members', value: [0] };
  const at = '/Groups/0199c3a4-7c1e-7d55-8d1f-3f0e8a1b2c3d';
  expect((await client.send('PATCH', at, { Operations: [operation] })).status).toBe(400);
  expect((await client.send('PUT', at, { displayName: 'a', members: [0] })).status).toBe(400);
});

test('every form of a PATCH changes the members that it names', async () => {
  const [ada, ben] = await Promise.all(
    ['ada', 'ben'].map(async (name) => {
      const { id } = await client.create({ userName: `${fresh(name)}@x.test` });
      return { value: String(id) };
    }),
  );
  const all = [ada?.value, ben?.value].toSorted();
  const made = await client.send('POST', '/Groups', { displayName: fresh('g') });
  const after = async (...Operations: object[]) => {
    const at = `/Groups/${made.body.id}?excludedAttributes=meta`;
    const { status, body } = await client.send('PATCH', at, { Operations });
    expect([status, body.meta]).toEqual([200, undefined]);
    return body.members.map(({ value }: { value: string }) => value).toSorted();
  };
  const path = 'members';
  const relative = { ...ada, $ref: `../Users/${ada?.value}` };
  const whole = { id: made.body.id, displayName: fresh('g'), externalId: 'e', members: [ada, ben] };
  expect(await after({ op: 'add', path, value: [relative] })).toEqual([ada?.value]);
  expect(await after({ op: 'replace', path, value: [] })).toEqual([]);
  expect(await after({ op: 'replace', value: whole })).toEqual(all);
  expect(await after({ op: 'remove', path, value: [] })).toEqual(all);
  expect(await after({ op: 'remove', path, value: [ada] })).toEqual([ben?.value]);
  expect(await after({ op: 'remove', path, value: null })).toEqual([]);
});

test('a group cannot take another group’s name, and an organization has at most 1,000 groups', async () => {
  const { body } = await client.send('POST', '/Groups', { displayName: 'one' });
  await client.send('POST', '/Groups', { displayName: 'two' });
  for (const [method, given] of [
    ['PUT', { displayName: 'TWO' }],
    ['PATCH', { Operations: [{ op: 'replace', path: 'displayName', value: 'Two' }] }],
  ] as const) {
    const refused = await client.send(method, `/Groups/${body.id}`, given);
    expect([refused.status, refused.body.scimType]).toEqual([409, 'uniqueness']);
  }
  const full = await scimClient(idctl);
  const columns = 'id, organization_id, display_name, display_name_canonical, version';
  const rows = Array.from({ length: 999 }, (_, at) => {
    return `('${crypto.randomUUID()}', $1, 'g${at}', 'g${at}', 1, $2, $2)`;
  });
  await transaction(() =>
    execute(
      `INSERT INTO scim_groups (${columns}, created_at, modified_at) VALUES ${rows.join(', ')}`,
      [full.org.id, new Date()],
    ),
  );
  const post = async () => (await full.send('POST', '/Groups', { displayName: fresh('g') })).status;
  expect([await post(), await post()]).toEqual([201, 400]);
});

test('a body sent to Groups may have up to 4 MiB', async () => {
  const body = (size: number) => ({ displayName: fresh('g'), note: 'x'.repeat(size) });
  const post = async (size: number) => (await client.send('POST', '/Groups', body(size))).status;
  expect(await post(4096 * 1024 - 100)).toBe(201);
  expect(await post(4096 * 1024)).toBe(413);
});

test('I4 a member is shown by the name that the client gave, never the account’s; the operator sees the members of a group', async () => {
  const { email } = await person(idctl);
  const { id: value } = await client.create({ userName: email });
  const { body } = await client.send('POST', '/Groups', {
    displayName: fresh('g'),
    members: [{ value }],
  });
  expect(body.members[0].display).toBe(email?.split('@')[0]);
  expect(JSON.stringify(body)).not.toContain('Byron');
  const base = { org: client.org.slug, limit: 50 };
  const { items: groups } = await listScimGroups(idctl.operator(), base);
  expect(groups).toContainEqual(expect.objectContaining({ id: body.id, members: 1 }));
  const members = await listScimGroupMembers(idctl.operator(), { ...base, members: body.id });
  expect(members.items).toMatchObject([{ id: value, userName: email }]);
});
