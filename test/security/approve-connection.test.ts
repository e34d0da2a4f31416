import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { changeSignInSettings } from '../../src/services/tenancy/signin-settings/operations.ts';
import {
  fresh,
  organization,
  password,
  person,
  signedIn,
  verifiedDomain,
} from '../support/builders.ts';
import { apply } from '../support/documents.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { registration } from '../support/sso.ts';
import { tokenOf } from '../support/tokens.ts';
import { enrol } from '../support/two-factor.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

type Settings = Record<string, unknown>;

const sso = (emailDomain: string): Settings => ({
  emailDomain,
  issuer: 'https://id.acme.test',
  ...registration,
});
const ldap: Settings = {
  uri: 'ldaps://ldap.acme.test',
  bindDn: 'cn=idctl,dc=acme',
  bindPassword: 'a password',
  searchBase: 'dc=acme',
  searchFilter: '(uid={username})',
  emailAttribute: 'mail',
};

/** Creates an organization with an owner and an admin, and a connection that the admin saved. */
async function waiting(kind: 'sso' | 'ldap') {
  const { slug: org } = await organization(idctl);
  const domain = await verifiedDomain(idctl, org);
  const path = `/api/v1/orgs/${org}/${kind}`;
  const join = async (name: string, role: 'owner' | 'admin') => {
    const { id, email } = await person(idctl, `${fresh(name)}@${domain}`);
    await addMember(idctl.operator(), { org, email: email ?? '', role });
    return { ...(await signedIn(idctl, email)), id, email };
  };
  const [owner, admin] = [await join('olga', 'owner'), await join('mallory', 'admin')];
  const settings = { ...(kind === 'sso' ? sso(domain) : ldap), enabled: true };
  const { status, body } = await admin.send('PUT', path, { body: settings });
  expect([status, body.approved]).toEqual([200, false]);
  const approve = (by: Pick<typeof owner, 'post'>, pointsAt: unknown) =>
    by.post(`${path}/approve`, { pointsAt });
  return { org, domain, path, owner, admin, settings, pointsAt: body.pointsAt, approve };
}

describe.each(['sso', 'ldap'] as const)('I8 approve: %s', (kind) => {
  test('I8 an owner approves what the view showed, with an event', async () => {
    const { org, path, owner, approve, pointsAt } = await waiting(kind);
    expect(await approve(owner, pointsAt)).toMatchObject({
      status: 200,
      body: { approved: true, pointsAt },
    });
    expect((await owner.get(path)).body.approved).toBe(true);
    expect(await approve(owner, pointsAt)).toMatchObject({ status: 200 });
    const events = await listEvents(idctl.operator(), { org, kind: `${kind}.approved`, limit: 9 });
    expect(events.items).toMatchObject([{ actor: { id: owner.id }, data: { pointsAt } }]);
  });

  test('I8 a field that changed between the look and the approval is a conflict', async () => {
    const { path, owner, admin, approve, pointsAt } = await waiting(kind);
    const secret = kind === 'sso' ? { clientSecret: 's' } : { bindPassword: 's' };
    const change = kind === 'sso' ? { issuer: 'https://evil.test' } : { uri: 'ldaps://evil.test' };
    await admin.send('PATCH', path, { body: { ...change, ...secret } });
    expect(await approve(owner, pointsAt)).toMatchObject({
      status: 409,
      body: { code: 'connection_changed' },
    });
    expect((await owner.get(path)).body.approved).toBe(false);
  });

  test('I8 an admin, a token of an owner and an owner of another organization do not approve', async () => {
    const { path, owner, admin, approve, pointsAt } = await waiting(kind);
    expect(await approve(admin, pointsAt)).toMatchObject({ status: 403 });
    const { token } = await tokenOf(idctl, { user: owner.id, scope: 'admin' });
    const bearer = idctl.client({ headers: { authorization: `Bearer ${token}` } });
    expect(await approve(bearer, pointsAt)).toMatchObject({
      status: 403,
      body: { code: 'session_required' },
    });
    const other = await organization(idctl);
    const foreigner = await signedIn(idctl, other.owner.email);
    expect(await approve(foreigner, pointsAt)).toMatchObject({ status: 404 });
    expect((await owner.get(path)).body.approved).toBe(false);
  });

  test.each(['without', 'with'])(
    'I8 an old session %s a second factor is confirmed first',
    async (factor) => {
      const { owner, approve, pointsAt } = await waiting(kind);
      const byPassword = () => owner.post('/api/v1/auth/confirm', { password });
      const confirm = factor === 'with' ? await enrol(idctl, owner) : byPassword;
      idctl.wait(11 * 60);
      expect(await approve(owner, pointsAt)).toMatchObject({
        status: 403,
        body: {
          code: 'recent_sign_in_required',
          methods: factor === 'with' ? ['totp', 'recovery'] : ['password'],
        },
      });
      expect((await confirm()).status).toBeLessThan(300);
      expect(await approve(owner, pointsAt)).toMatchObject({ status: 200 });
    },
  );
});

describe('I8 the last way in', () => {
  const noOther = { password: false, passkey: false, magicCode: false };

  /** Leaves one owner, whose address is on the domain of a connection that waits for approval. */
  async function oneOwner() {
    const site = await waiting('sso');
    // The builder's owner has an address elsewhere.
    const { items } = (await site.owner.get(`/api/v1/orgs/${site.org}/members`)).body;
    for (const { role, userId } of items) {
      if (role !== 'owner' || userId === site.owner.id) continue;
      const path = `/api/v1/orgs/${site.org}/members/${userId}`;
      expect((await site.owner.send('DELETE', path)).status).toBe(204);
    }
    return site;
  }

  /** Leaves the owner no way in but the connection, which the owner has approved. */
  async function onlySso() {
    const site = await oneOwner();
    expect((await site.approve(site.owner, site.pointsAt)).status).toBe(200);
    await changeSignInSettings(idctl.operator(), { org: site.org, ...noOther });
    return site;
  }

  const evil = { issuer: 'https://evil.test', clientSecret: 's' };
  const lockedOut = { status: 409, body: { code: 'owners_locked_out' } };

  test('I8 a change that takes the last way in from the owners until approved is refused, and changes nothing', async () => {
    const { org, path, owner, admin, settings } = await onlySso();
    expect(await admin.send('PATCH', path, { body: evil })).toMatchObject(lockedOut);
    expect(await admin.send('PUT', path, { body: { ...settings, ...evil } })).toMatchObject(
      lockedOut,
    );
    const proof = { via: 'session', sessionId: admin.id } as const;
    const actor = idctl.as({ kind: 'user', accountId: admin.id, name: 'M', ...proof });
    const section = { ...settings, issuer: evil.issuer, clientSecret: { value: 's' } };
    await expect(apply(actor, org, { idctl: 1, sso: section })).rejects.toMatchObject({
      code: 'owners_locked_out',
    });
    expect((await owner.get(path)).body).toMatchObject({
      issuer: 'https://id.acme.test',
      approved: true,
    });
    // A setting that does not point, and a change by an owner, take nothing.
    expect((await admin.send('PATCH', path, { body: { groupsClaim: 'roles' } })).status).toBe(200);
    expect((await owner.send('PATCH', path, { body: evil })).body).toMatchObject({
      approved: true,
    });
  });

  test('I8 where no way in existed before, or another remains, the change is allowed', async () => {
    const { org, path, admin } = await onlySso();
    await admin.post(`${path}/disable`);
    expect((await admin.send('PATCH', path, { body: evil })).body).toMatchObject({
      approved: false,
    });
    await changeSignInSettings(idctl.operator(), { org, password: true });
    expect((await admin.post(`${path}/enable`)).status).toBe(200);
  });

  test('I8 an unapproved connection counts as no way in when sign-in settings change', async () => {
    const { org, owner, approve, pointsAt } = await oneOwner();
    const change = () => changeSignInSettings(idctl.operator(), { org, ...noOther });
    await expect(change()).rejects.toMatchObject({ code: 'owners_locked_out' });
    await approve(owner, pointsAt);
    await expect(change()).resolves.toMatchObject(noOther);
  });
});
