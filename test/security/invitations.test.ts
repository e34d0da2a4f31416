import { afterAll, beforeAll, expect, test } from 'vitest';
import { disableUser, enableUser } from '../../src/services/people/users/operations.ts';
import {
  createInvitation,
  listInvitations,
} from '../../src/services/tenancy/invitations/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { organization, person, signedIn } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

/** A new person who is signed in. */
async function somebody() {
  const { email } = await person(idctl);
  return { email: email ?? '', client: await signedIn(idctl, email) };
}

const accept = async (client: Client, token: string) =>
  (await client.post('/api/v1/invitations/accept', { token })).status;

test('I5 O6 an invitation from before a removal does not bring the person back', async () => {
  const { slug: org } = await organization(idctl);
  const { email, client } = await somebody();
  const { token } = await createInvitation(idctl.operator(), { org, email, role: 'admin' });
  await addMember(idctl.operator(), { org, email, role: 'member' });
  await removeMember(idctl.operator(), { org, user: email });
  expect(await accept(client, token)).toBe(404);
  expect((await client.get('/api/v1/me')).body.organizations).toEqual([]);
  expect((await listInvitations(idctl.operator(), { org, limit: 50 })).items).toEqual([]);
  const again = await createInvitation(idctl.operator(), { org, email, role: 'member' });
  expect(await accept(client, again.token)).toBe(200);
});

test('O6 an invitation is invalid while its inviter is disabled', async () => {
  const { slug: org, owner } = await organization(idctl);
  const { email, client } = await somebody();
  const inviter = await signedIn(idctl, owner.email);
  const { body } = await inviter.post(`/api/v1/orgs/${org}/invitations`, { email, role: 'admin' });
  await disableUser(idctl.operator(), { user: owner.id });
  expect(await accept(client, body.token)).toBe(404);
  await enableUser(idctl.operator(), { user: owner.id });
  expect(await accept(client, body.token)).toBe(200);
});
