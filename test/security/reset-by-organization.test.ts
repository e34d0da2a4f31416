import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { Membership, type Role } from '../../src/database/models/membership.ts';
import { transaction } from '../../src/database/transaction.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import {
  fresh,
  organization,
  password,
  person,
  signedIn,
  verifiedDomain,
} from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { open } from '../support/pages.ts';
import { addPasskey, passkeySite as baseUrl } from '../support/passkeys.ts';
import { clientOf } from '../support/scim-client.ts';
import { enrolled, enrolOwn } from '../support/two-factor.ts';

// Security O14: an organization helps a person who lost the second factor.

let idctl: Idctl;
let org: Awaited<ReturnType<typeof organization>>;
let domain: string;
let owner: Client;
beforeEach(async () => {
  idctl = await openIdctl({ baseUrl });
  org = await organization(idctl);
  domain = await verifiedDomain(idctl, org.slug);
  owner = await signedIn(idctl, org.owner.email);
});
afterEach(() => idctl.close());

const join = (email: string | null, role: Role, at = org.slug) =>
  addMember(idctl.operator(), { org: at, email: email ?? '', role });

/** A member on the verified domain who has an authenticator app and a passkey. */
async function member(role: Role = 'member', email = `${fresh('ada')}@${domain}`) {
  const { account, client, code } = await enrolled(idctl, email);
  expect((await addPasskey(client)).answer.status).toBe(201);
  await join(account.email, role);
  return { ...account, client, code };
}

/** An admin or owner without a second factor, signed in. */
async function staff(role: Role) {
  const account = await person(idctl, `${fresh('ben')}@${domain}`);
  await join(account.email, role);
  return Object.assign(await signedIn(idctl, account.email), { account });
}

const reset = (by: Client, { id }: { id: string }, query = '') =>
  by.post(`/api/v1/orgs/${org.slug}/members/${id}/second-factor/reset${query}`);
const operatorNeeded = { status: 409, body: { code: 'operator_needed' } };
const factors = async ({ id }: { id: string }) => {
  const { totpEnabledAt, hasPasskey, hasRecoveryCodes } = await Account.findByPk(id, {
    rejectOnEmpty: true,
  });
  return [totpEnabledAt !== null, hasPasskey, hasRecoveryCodes];
};

describe('O14 the reset of a second factor', () => {
  test('O14 removes the authenticator, passkeys and codes, ends the sessions, and sets nothing', async () => {
    const ada = await member();
    const before = await Account.findByPk(ada.id, { rejectOnEmpty: true });
    const dry = await reset(owner, ada, '?dryRun=true');
    expect(dry).toMatchObject({ status: 200, body: { passkeysRemoved: 1 } });
    expect(await factors(ada)).toEqual([true, true, true]);
    expect(await reset(owner, ada)).toMatchObject({
      status: 200,
      body: {
        ...{ userId: ada.id, authenticatorRemoved: true, passkeysRemoved: 1, sessionsEnded: 1 },
        // This instance does not send mail.
        told: false,
      },
    });
    expect(await factors(ada)).toEqual([false, false, false]);
    expect((await ada.client.get('/api/v1/me')).status).toBe(401);
    const after = await Account.findByPk(ada.id, { rejectOnEmpty: true });
    expect([after.passwordHash, after.email]).toEqual([before.passwordHash, before.email]);
    expect((await signedIn(idctl, ada.email)).accessToken).toBeTruthy();
    const kind = 'member.second_factor.reset';
    expect(await Event.findAll({ where: { kind } })).toMatchObject([
      { organizationId: org.id, subject: { id: ada.id } },
    ]);
    expect(await reset(owner, ada)).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  test('O14 an admin does it for members, an owner for everyone else, and no one for themselves', async () => {
    const admin = await staff('admin');
    expect((await reset(admin, await member())).status).toBe(200);
    const [other, second] = [await member('admin'), await member('owner')];
    for (const one of [other, second])
      expect(await reset(admin, one)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await factors(second)).toEqual([true, true, true]);
    expect((await reset(owner, other)).status).toBe(200);
    expect((await reset(owner, second)).status).toBe(200);
    expect(await reset(owner, org.owner)).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    });
    expect(await reset(await staff('member'), await member())).toMatchObject({ status: 403 });
  });

  test('O14 a synced role counts like a manual one', async () => {
    const admin = await staff('admin');
    const other = await member('owner');
    await transaction(() =>
      Membership.update({ synced: true }, { where: { accountId: other.id } }),
    );
    expect(await reset(admin, other)).toMatchObject({ status: 403 });
  });

  test('O14 needs a session, and the actor’s own second factor where there is one', async () => {
    const ada = await member();
    const earlier = await staff('owner');
    const { token } = (await earlier.post('/api/v1/me/tokens', { name: 'ci' })).body;
    const byToken = idctl.client({ headers: { authorization: `Bearer ${token}` } });
    expect(await reset(byToken, ada)).toMatchObject({ body: { code: 'session_required' } });
    const code = await enrolOwn(idctl, earlier.account);
    expect(await reset(earlier, ada)).toMatchObject({ body: { code: 'session_required' } });
    expect(await factors(ada)).toEqual([true, true, true]);
    const passed = await signedIn(idctl, earlier.account.email, { totpCode: code() });
    expect((await reset(passed, ada)).status).toBe(200);
  });

  test('O14 is for addresses on a verified domain of this organization', async () => {
    const stranger = await member('member', `${fresh('eve')}@elsewhere.test`);
    expect(await reset(owner, stranger)).toMatchObject(operatorNeeded);
    const rival = await organization(idctl);
    const theirs = await verifiedDomain(idctl, rival.slug);
    const other = await member('member', `${fresh('eve')}@${theirs}`);
    expect(await reset(owner, other)).toMatchObject(operatorNeeded);
    expect(await factors(stranger)).toEqual([true, true, true]);
    expect(await factors(other)).toEqual([true, true, true]);
  });

  test('O14 is for accounts that belong to no other organization; a pushed membership does not count', async () => {
    const [shared, pushed] = [await member(), await member()];
    const rival = await organization(idctl);
    await join(shared.email, 'member', rival.slug);
    const refused = await reset(owner, shared);
    expect(refused).toMatchObject(operatorNeeded);
    expect(JSON.stringify(refused.body)).not.toContain(rival.slug);
    const { token } = await rotateScimToken(idctl.operator(), { org: rival.slug });
    await clientOf(idctl, rival, token).create({ userName: pushed.email ?? '' });
    expect(await Membership.count({ where: { accountId: pushed.id } })).toBe(2);
    expect((await reset(owner, pushed)).status).toBe(200);
  });

  test('O14 a person who would have no way in left is refused, and nothing changes', async () => {
    const ada = await member();
    await transaction(() => Account.update({ passwordHash: null }, { where: { id: ada.id } }));
    expect(await reset(owner, ada)).toMatchObject(operatorNeeded);
    expect(await factors(ada)).toEqual([true, true, true]);
    expect((await ada.client.get('/api/v1/me')).status).toBe(200);
  });

  test('O14 a person without a second factor is refused for that, and only the own organization learns it', async () => {
    const own = await staff('member');
    await transaction(() =>
      Account.update({ passwordHash: null }, { where: { id: own.account.id } }),
    );
    expect(await reset(owner, own.account)).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: expect.stringContaining('has no second factor') },
    });
    const stranger = await person(idctl, `${fresh('eve')}@elsewhere.test`);
    await join(stranger.email, 'member');
    expect(await reset(owner, stranger)).toMatchObject(operatorNeeded);
  });

  test('O14 the page that asks for the factor says who can reset it', async () => {
    const [ada, eve] = [await member(), await member('member', `${fresh('eve')}@elsewhere.test`)];
    const asked = async ({ email }: { email: string | null }) => {
      const client = idctl.client({ keepCookies: true });
      const page = await open(client, `/login?identifier=${encodeURIComponent(email ?? '')}`);
      return (await page.submit('/login/password', { password })).text;
    };
    expect(await asked(ada)).toContain(`ask an owner of ${org.name} to reset your second factor.`);
    expect(await asked(eve)).toContain('ask the administrator of this site to reset');
    // An only owner has nobody in the organization, and this person would have no way in.
    const alone = await organization(idctl);
    const own = await verifiedDomain(idctl, alone.slug);
    const { account } = await enrolled(idctl, `${fresh('olga')}@${own}`);
    const olga = { org: alone.slug, email: account.email ?? '', role: 'owner' as const };
    await addMember(idctl.operator(), olga);
    await removeMember(idctl.operator(), { org: alone.slug, user: alone.owner.id });
    expect(await asked(account)).toContain('ask the administrator of this site to reset');
  });
});
