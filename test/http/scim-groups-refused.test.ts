import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type ScimClient, scimClient } from '../support/scim-client.ts';

let idctl: Idctl;
let client: ScimClient;
beforeAll(async () => {
  idctl = await openIdctl();
  client = await scimClient(idctl);
});
afterAll(() => idctl.close());

test('the body of a change is read before the group is locked', async () => {
  const operation = { op: 'add', path: 'members', value: [0] };
  const at = '/Groups/0199c3a4-7c1e-7d55-8d1f-3f0e8a1b2c3d';
  expect((await client.send('PATCH', at, { Operations: [operation] })).status).toBe(400);
  expect((await client.send('PUT', at, { displayName: 'a', members: [0] })).status).toBe(400);
});
