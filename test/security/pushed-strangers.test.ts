import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { createInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { changeMemberRole } from '../../src/services/tenancy/memberships/operations.ts';
import { fresh, person, signedIn, verifiedDomain } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type ScimClient, scimClient } from '../support/scim-client.ts';

// The attack: an organization adds a stranger's address by SCIM, which the specification allows.
// From what its owners see of members, it tries to learn whether the account exists, and what it
// contains.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

/** Adds the stranger by SCIM, under a name that the organization chose. */
async function push(rival: ScimClient, email: string) {
  const pushed = await rival.create({ userName: email, displayName: 'Nobody Known' });
  const { id } = await Account.findOne({ where: { email }, rejectOnEmpty: true });
  return { id, record: String(pushed.id) };
}

describe('O8 a pushed membership tells the organization nothing', () => {
  test('O8 P15 the owners see neither a stranger’s tokens of scope admin nor that there are any', async () => {
    const rival = await scimClient(idctl);
    const stranger = await person(idctl);
    await createToken(idctl.operator(), {
      user: stranger.id,
      name: 'deploys acme',
      scope: 'admin',
    });
    await push(rival, stranger.email ?? '');
    const owner = await signedIn(idctl, rival.org.owner.email);
    const list = () => owner.get(`/api/v1/orgs/${rival.org.slug}/tokens?limit=1`);
    expect((await list()).body).toEqual({ items: [], nextCursor: null });
    // The list has the tokens of members who accepted an invitation, or whose address is on a
    // domain of the organization.
    const domain = await verifiedDomain(idctl, rival.org.slug);
    const own = await person(idctl, `${fresh('bo')}@${domain}`);
    await createToken(idctl.operator(), { user: own.id, name: 'deploys', scope: 'admin' });
    await push(rival, own.email ?? '');
    expect((await list()).body.items).toMatchObject([{ name: 'deploys', user: { id: own.id } }]);
    const guest = await person(idctl);
    await createToken(idctl.operator(), { user: guest.id, name: 'guest', scope: 'admin' });
    const org = rival.org.slug;
    const invited = await createInvitation(idctl.operator(), {
      org,
      email: guest.email ?? '',
      role: 'member',
    });
    const client = await signedIn(idctl, guest.email);
    expect((await client.post('/api/v1/invitations/accept', { token: invited.token })).status).toBe(
      200,
    );
    const all = await owner.get(`/api/v1/orgs/${org}/tokens`);
    expect(all.body.items.map(({ name }: { name: string }) => name)).toEqual(['deploys', 'guest']);
  });

  test('O8 I4 when a stranger leaves, the organization’s events show only the name that its SCIM client gave', async () => {
    const rival = await scimClient(idctl);
    const stranger = await person(idctl);
    await push(rival, stranger.email ?? '');
    const client = await signedIn(idctl, stranger.email);
    await client.send('PATCH', '/api/v1/me', { body: { name: 'Secret Name' } });
    expect((await client.send('DELETE', `/api/v1/orgs/${rival.org.slug}/members/me`)).status).toBe(
      204,
    );
    const owner = await signedIn(idctl, rival.org.owner.email);
    const { body } = await owner.get(`/api/v1/orgs/${rival.org.slug}/events?limit=200`);
    expect(body.items.at(-1)).toMatchObject({ kind: 'member.removed', actor: { id: stranger.id } });
    expect(JSON.stringify(body)).not.toContain('Secret Name');
  });

  test('O8 I4 the time in the id of a pushed account does not tell whether the account existed before', async () => {
    const rival = await scimClient(idctl);
    const last = (await person(idctl)).id;
    const owner = await signedIn(idctl, rival.org.owner.email);
    for (let at = 0; at < 5; at += 1) await push(rival, `${fresh('nobody')}@elsewhere.test`);
    const { items } = (await owner.get(`/api/v1/orgs/${rival.org.slug}/members?limit=200`)).body;
    const ids: string[] = items.map(({ userId }: { userId: string }) => userId);
    expect([ids.length, ids.filter((id) => id > last)]).toEqual([6, []]);
  });

  test('O8 O3 a change of settings does not tell whether a stranger has a password', async () => {
    const answers = [];
    for (const withPassword of [true, false]) {
      const rival = await scimClient(idctl);
      const org = rival.org.slug;
      const domain = await verifiedDomain(idctl, org);
      const boss = await person(idctl, `${fresh('boss')}@${domain}`);
      await addMember(idctl.operator(), { org, email: boss.email ?? '', role: 'owner' });
      const owner = await signedIn(idctl, boss.email);
      const email = withPassword
        ? ((await person(idctl)).email ?? '')
        : `${fresh('nobody')}@elsewhere.test`;
      const { id } = await push(rival, email);
      const path = `/api/v1/orgs/${org}`;
      await changeMemberRole(idctl.operator(), { org, user: id, role: 'owner' });
      expect((await owner.send('DELETE', `${path}/members/${rival.org.owner.id}`)).status).toBe(
        204,
      );
      const none = { password: false, magicCode: false, google: false, github: false };
      answers.push((await owner.send('PUT', `${path}/signin-settings`, { body: none })).status);
    }
    expect(answers).toEqual([409, 409]);
  });

  test('O8 I4 after a person has left, the organization does not see the person’s new name', async () => {
    const rival = await scimClient(idctl);
    const org = rival.org.slug;
    const guest = await person(idctl);
    const invited = await createInvitation(idctl.operator(), {
      org,
      email: guest.email ?? '',
      role: 'member',
    });
    const client = await signedIn(idctl, guest.email);
    await client.post('/api/v1/invitations/accept', { token: invited.token });
    expect((await client.send('DELETE', `/api/v1/orgs/${org}/members/me`)).status).toBe(204);
    expect(
      (await client.send('PATCH', '/api/v1/me', { body: { name: 'Secret Name' } })).status,
    ).toBe(200);
    expect(JSON.stringify((await rival.get('/Users')).body)).not.toContain('Secret Name');
    // A person who accepts another invitation is shown with the new name.
    const again = await createInvitation(idctl.operator(), {
      org,
      email: guest.email ?? '',
      role: 'member',
    });
    expect((await client.post('/api/v1/invitations/accept', { token: again.token })).status).toBe(
      200,
    );
    expect(JSON.stringify((await rival.get('/Users')).body)).toContain('Secret Name');
  });
});
