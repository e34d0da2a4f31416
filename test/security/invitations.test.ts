import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { Account } from '../../src/database/models/account.ts';
import { rehearse } from '../../src/database/transaction.ts';
import { disableUser, enableUser } from '../../src/services/people/users/operations.ts';
import {
  createInvitation,
  listInvitations,
  revokeInvitation,
} from '../../src/services/tenancy/invitations/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import {
  changeMemberRole,
  removeMember,
} from '../../src/services/tenancy/memberships/operations.ts';
import { fresh, organization, password, person, signedIn } from '../support/builders.ts';
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

/** An organization, whose second owner has invited an address as admin, and the ways to see it. */
async function invited() {
  const { slug: org, owner } = await organization(idctl);
  const { id: user, email: inviting } = await person(idctl);
  await addMember(idctl.operator(), { org, email: inviting ?? '', role: 'owner' });
  const email = `${fresh('ina')}@example.test`;
  const inviter = await signedIn(idctl, inviting);
  const path = `/api/v1/orgs/${org}/invitations`;
  const { body } = await inviter.post(path, { email, role: 'admin' });
  const admin = await signedIn(idctl, owner.email);
  const anybody = idctl.client();
  return {
    org,
    email,
    user,
    token: body.token as string,
    id: body.id as string,
    list: async () => (await admin.get(path)).body.items,
    page: (ofPage: string) => anybody.get(`${ofPage}?invitation=${body.token}`),
    signUp: () =>
      anybody.post('/api/v1/auth/signup', { email, password, name: 'Ina', invitation: body.token }),
  };
}

const standings = {
  inviter_left: {
    end: (operator, { org, user }) => removeMember(operator, { org, user }),
    begin: (operator, { org, address }) =>
      addMember(operator, { org, email: address, role: 'owner' }),
  },
  inviter_disabled: {
    end: (operator, { user }) => disableUser(operator, { user }),
    begin: (operator, { user }) => enableUser(operator, { user }),
  },
  inviter_role: {
    end: (operator, { org, user }) => changeMemberRole(operator, { org, user, role: 'member' }),
    begin: (operator, { org, user }) => changeMemberRole(operator, { org, user, role: 'admin' }),
  },
} satisfies Record<string, Standing>;

interface Standing {
  end(operator: Context, of: { org: string; user: string }): Promise<unknown>;
  begin(operator: Context, of: { org: string; user: string; address: string }): Promise<unknown>;
}

test('O6 an invitation that has expired is refused before anything is typed', async () => {
  const { page, signUp } = await invited();
  expect((await page('/login')).body).toContain('invites you');
  idctl.wait(7 * 86_400);
  for (const path of ['/login', '/login/signup'])
    expect((await page(path)).body).not.toContain('invites you');
  expect(await signUp()).toMatchObject({ status: 403, body: { code: 'signup_closed' } });
});

test.each(Object.entries(standings))(
  'O6 an invitation is refused before anything is typed, with the reason in the list, while: %s',
  async (invalidBecause, { end, begin }: Standing) => {
    const { org, email, user, token, id, list, page, signUp } = await invited();
    const { email: address } = await Account.findByPk(user, { rejectOnEmpty: true });
    expect(await list()).toMatchObject([{ email, invalidBecause: null }]);
    expect((await page('/login')).body).toContain('invites you');
    await end(idctl.operator(), { org, user });

    const said = /This invitation is invalid or has expired\.\s*Ask for a new one\./;
    for (const path of ['/login', '/login/signup']) {
      const text = String((await page(path)).body).replace(/<[^>]*>/g, '');
      expect(text).toMatch(said);
      expect(text).not.toContain('invites you');
    }
    expect(await signUp()).toMatchObject({ status: 404, body: { code: 'invitation_invalid' } });
    expect(await list()).toMatchObject([{ email, invalidBecause }]);
    const rehearsed = await rehearse(() => revokeInvitation(idctl.operator(), { org, id }));
    expect(rehearsed).toMatchObject({ email, invalidBecause });

    await begin(idctl.operator(), { org, user, address: address ?? '' });
    expect(await list()).toMatchObject([{ email, invalidBecause: null }]);
    expect((await page('/login')).body).toContain('invites you');
    expect((await signUp()).status).toBe(201);
    expect(await accept(await signedIn(idctl, email), token)).toBe(200);
  },
);

test('O6 the operator’s invitations stay valid', async () => {
  const { slug: org, owner } = await organization(idctl);
  const email = `${fresh('ina')}@example.test`;
  const { token } = await createInvitation(idctl.operator(), { org, email, role: 'owner' });
  await disableUser(idctl.operator(), { user: owner.id });
  const page = await idctl.client().get(`/login?invitation=${token}`);
  expect(page.body).toContain('You are invited');
  const { items } = await listInvitations(idctl.operator(), { org, limit: 50 });
  expect(items).toMatchObject([{ email, invalidBecause: null }]);
});
