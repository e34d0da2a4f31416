import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { LdapConnection } from '../../src/database/models/ldap-connection.ts';
import { Membership } from '../../src/database/models/membership.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { transaction } from '../../src/database/transaction.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { addDomain, removeDomain } from '../../src/services/tenancy/domains/operations.ts';
import { changeLdap, enableLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { deactivate } from '../../src/services/tenancy/memberships/join-and-leave.ts';
import { changeMemberRole } from '../../src/services/tenancy/memberships/operations.ts';
import { fresh, organization, person, signedIn, verifiedDomain } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { joined, settingsFor, signInByLdap } from '../support/ldap.ts';
import { overtake } from '../support/overtake.ts';
import { type Slapd, service, startSlapd, suffix } from '../support/slapd.ts';

let idctl: Idctl;
beforeAll(async () => {
  // All sign-ins here come from one address, and some are refused, so its limit is high.
  idctl = await openIdctl({
    outbound: { allow: ['127.0.0.1'] },
    limits: { addressFailures: 1000 },
  });
});
afterAll(() => idctl.close());

describe('§2.5 the connection', () => {
  const body = {
    uri: 'ldaps://ldap.acme.test',
    ...service,
    searchBase: `ou=people,${suffix}`,
    searchFilter: '(uid={username})',
    emailAttribute: 'mail',
  };

  /** A client signed in as an organization's owner, and the path of its LDAP connection. */
  async function admin() {
    const org = await organization(idctl);
    const { send, ...client } = await signedIn(idctl, org.owner.email);
    return { org, send, ...client, path: `/api/v1/orgs/${org.slug}/ldap` };
  }

  test('§2.5 is saved whole and shown without its password, which is sealed', async () => {
    const { send, get, path } = await admin();
    expect(await get(path)).toMatchObject({
      status: 404,
      body: { hint: `Create one: PUT ${path}` },
    });
    const saved = await send('PUT', path, { body });
    const { bindPassword, ...shown } = body;
    const view = {
      ...shown,
      tls: true,
      caCertificate: null,
      hasBindPassword: true,
      givenNameAttribute: 'givenName',
      familyNameAttribute: 'sn',
      groupsAttribute: null,
      enabled: false,
      approved: true,
      changedBy: { kind: 'user', id: expect.any(String), name: 'Ada Byron' },
      pointsAt: expect.any(String),
    };
    expect(saved).toMatchObject({ status: 200 });
    expect(saved.body).toEqual(view);
    expect((await get(path)).body).toEqual(view);
    const rows = await LdapConnection.findAll({ raw: true });
    expect(JSON.stringify(rows)).not.toContain(bindPassword);
  });

  test('§2.5 a blank password keeps the stored one; the first save needs one', async () => {
    const { send, path } = await admin();
    const first = await send('PUT', path, { body: { ...body, bindPassword: '' } });
    expect(first).toMatchObject({ status: 400, body: { errors: [{ path: 'bindPassword' }] } });
    await send('PUT', path, { body });
    for (const bindPassword of ['', undefined]) {
      const again = { ...body, searchFilter: '(mail={username})', bindPassword };
      expect(await send('PUT', path, { body: again })).toMatchObject({ status: 200 });
    }
    const moved = await send('PUT', path, {
      body: { ...body, uri: 'ldaps://other.test', bindPassword: '' },
    });
    expect(moved).toMatchObject({ status: 409, body: { code: 'secret_required' } });
  });

  test('L5 a connection without TLS is accepted only to this machine, and never with ldaps', async () => {
    const { send, path } = await admin();
    const save = (uri: string) => send('PUT', path, { body: { ...body, uri, tls: false } });
    for (const uri of [
      'ldap://ldap.acme.test',
      'ldaps://127.0.0.1',
      'ldap://127.0.0.1.acme.test',
      'ldap://10.0.0.1',
    ]) {
      expect(await save(uri)).toMatchObject({ status: 400, body: { errors: [{ path: 'tls' }] } });
    }
    for (const uri of ['ldap://127.0.0.1:389', 'ldap://localhost', 'ldap://[::1]:1389']) {
      expect(await save(uri)).toMatchObject({ status: 200 });
    }
  });

  test('I2 can be enabled once the organization has a verified domain', async () => {
    const { org, send, path } = await admin();
    const refused = {
      status: 409,
      body: {
        code: 'domain_unverified',
        hint: expect.stringContaining(`POST /api/v1/orgs/${org.slug}/domains`),
      },
    };
    expect(await send('PUT', path, { body: { ...body, enabled: true } })).toMatchObject(refused);
    await send('PUT', path, { body });
    const enable = () => enableLdap(idctl.operator(), { org: org.slug });
    await addDomain(idctl.operator(), { org: org.slug, domain: `${fresh('pending')}.test` });
    await expect(enable()).rejects.toMatchObject({ code: 'domain_unverified' });
    await verifiedDomain(idctl, org.slug);
    expect(await enable()).toMatchObject({ enabled: true });
    expect(
      await changeLdap(idctl.operator(), { org: org.slug, emailAttribute: 'mail2' }),
    ).toMatchObject({
      enabled: true,
      emailAttribute: 'mail2',
      searchFilter: body.searchFilter,
    });
  });

  test('writes an event for every change, without the password', async () => {
    const { org, send, path } = await admin();
    await send('PUT', path, { body });
    await verifiedDomain(idctl, org.slug);
    await enableLdap(idctl.operator(), { org: org.slug });
    await send('DELETE', path);
    const { items } = await listEvents(idctl.operator(), { org: org.slug, limit: 50 });
    const kinds = items.map(({ kind }) => kind).filter((kind) => kind.startsWith('ldap.'));
    expect(kinds).toEqual(['ldap.saved', 'ldap.enabled', 'ldap.removed']);
    expect(JSON.stringify(items)).not.toContain(service.bindPassword);
  });
});

describe.skipIf(counterpartMissing('slapd'))('§4.2 signing in', () => {
  let slapd: Slapd;
  beforeAll(async () => {
    slapd = await startSlapd();
  });
  afterAll(() => slapd?.stop());

  /** An organization with a directory connection, and one person in the directory. */
  async function staffed(settings: Record<string, unknown> = {}) {
    const { org, domain } = await joined(idctl, { ...settingsFor(slapd), ...settings });
    const uid = fresh('ada');
    const email = `${uid}@${domain}`;
    await slapd.person(uid, { givenName: 'Ada', mail: email });
    const signIn = (more: Record<string, unknown> = {}) =>
      signInByLdap(idctl, { username: uid, org: org.slug, ...more });
    return { org, domain, uid, email, signIn };
  }

  test.each(['ldaps', 'ldap'] as const)(
    '§4.2 over %s makes an account, a membership and a session',
    async (scheme) => {
      const { org, uid, email } = await staffed({ uri: slapd[scheme] });
      const client = idctl.client({ keepCookies: true });
      const answer = await client.post('/auth/ldap/login', {
        username: uid,
        password: 'Ada directory 1',
        org: org.slug,
      });
      expect(answer).toMatchObject({
        status: 200,
        body: {
          user: { email, name: 'Ada Byron', emailVerified: true },
          tokenType: 'Bearer',
          expiresIn: 900,
        },
      });
      expect(answer.cookies.map(({ name }) => name).sort()).toEqual([
        'access_token',
        'known_browser',
        'refresh_token',
        'session_name',
      ]);
      const me = await client.get('/api/v1/me');
      expect(me.body.organizations).toMatchObject([{ slug: org.slug, role: 'member' }]);
      const { id: organizationId } = await Organization.findOne({
        where: { slug: org.slug },
        rejectOnEmpty: true,
      });
      const [connection] = await LdapConnection.findAll({ where: { organizationId } });
      const membership = await Membership.findOne({
        where: { organizationId, accountId: answer.body.user.id },
      });
      expect(membership?.origin).toEqual({ kind: 'ldap', by: connection?.id });
      const identities = await Identity.findAll({ where: { accountId: answer.body.user.id } });
      expect(identities).toMatchObject([
        { kind: 'ldap', issuer: 'entryUUID', connectionId: connection?.id },
      ]);
      const sessions = await client.get('/api/v1/me/sessions');
      expect(sessions.body.items).toMatchObject([{ method: 'ldap', connection: connection?.id }]);
    },
  );

  test('I1 the second sign-in finds the account by entryUUID, although mail and name have changed', async () => {
    const { uid, domain, email, signIn } = await staffed();
    const first = await signIn();
    await slapd.apply(
      `dn: uid=${uid},ou=people,${suffix}\nchangetype: modify\nreplace: mail\nmail: new-${uid}@${domain}\n-\nreplace: sn\nsn: Lovelace\n`,
    );
    await slapd.apply(
      `dn: uid=${uid},ou=people,${suffix}\nchangetype: modrdn\nnewrdn: uid=${uid}x\ndeleteoldrdn: 1\n`,
    );
    const second = await signIn({ username: `${uid}x` });
    expect(second).toMatchObject({
      status: 200,
      body: { user: { id: first.body.user.id, email } },
    });
  });

  test('I1 another entry with the address of a person who signs in by LDAP is refused as a conflict', async () => {
    const { org, email, signIn } = await staffed();
    await signIn();
    const thief = fresh('thief');
    await slapd.person(thief, { mail: email });
    expect(await signIn({ username: thief })).toMatchObject({ status: 401 });
    const { items } = await listEvents(idctl.operator(), {
      org: org.slug,
      kind: 'ldap.signin.refused',
      limit: 9,
    });
    expect(items).toMatchObject([
      { data: { reason: 'identity_conflict', entry: `uid=${thief},ou=people,${suffix}` } },
    ]);
  });

  test('an existing account is linked, and keeps its role and password', async () => {
    const { org, email, signIn } = await staffed();
    const account = await person(idctl, email);
    await addMember(idctl.operator(), { org: org.slug, email, role: 'admin' });
    expect(await signIn()).toMatchObject({ status: 200, body: { user: { id: account.id } } });
    const client = await signedIn(idctl, email);
    expect((await client.get('/api/v1/me')).body).toMatchObject({
      organizations: [{ role: 'admin' }],
    });
  });

  test('P12 the second factor is required after the right password', async () => {
    const { email, signIn } = await staffed();
    await person(idctl, email);
    const client = await signedIn(idctl, email);
    const { secret } = (await client.post('/api/v1/me/totp')).body;
    const code = () =>
      generateSync({ secret, epoch: Math.floor(idctl.app.clock().getTime() / 1000) });
    await client.post('/api/v1/me/totp/confirm', { code: code() });
    idctl.wait(60);
    expect(await signIn()).toMatchObject({
      status: 401,
      body: { code: 'second_factor_required', methods: ['totp', 'recovery'] },
      cookies: [],
    });
    expect(await signIn({ totpCode: '000000' })).toMatchObject({
      status: 401,
      body: { code: 'second_factor_invalid' },
      cookies: [],
    });
    expect(await signIn({ password: 'wrong', totpCode: code() })).toMatchObject({
      body: { code: 'signin_failed' },
    });
    const totpCode = code();
    expect(await signIn({ totpCode })).toMatchObject({ status: 200, body: { user: { email } } });
    expect(await signIn({ totpCode })).toMatchObject({ body: { code: 'second_factor_invalid' } });
  });

  test('I5 a person who was deactivated by SCIM is not added again', async () => {
    const { org, signIn } = await staffed();
    const { body } = await signIn();
    const organizationId = org.id;
    const account = await Account.findByPk(body.user.id, { rejectOnEmpty: true });
    await transaction(() => deactivate(idctl.operator(), organizationId, account));
    expect(await signIn()).toMatchObject({
      status: 401,
      body: { code: 'signin_failed' },
      cookies: [],
    });
    expect(await Membership.count({ where: { organizationId, accountId: account.id } })).toBe(0);
  });

  test('I2 D5 after a domain is removed, a person with an address on it can no longer sign in through the directory', async () => {
    const { org, domain, signIn } = await staffed();
    const { body } = await signIn();
    // The answer names the people who can no longer sign in (D5).
    expect(await removeDomain(idctl.operator(), { org: org.slug, domain })).toMatchObject({
      ssoDisabled: false,
      people: [body.user.email],
      owners: [],
    });
    expect(await signIn()).toMatchObject({ status: 401 });
  });

  test('parallel first sign-ins make one account', async () => {
    const { email, signIn } = await staffed();
    const answers = await Promise.all([signIn(), signIn(), signIn()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await Account.count({ where: { email } })).toBe(1);
  });

  // On SQLite, the second transaction would wait for the first.
  test.runIf(dialect === 'postgres')(
    'a first sign-in that another sign-in overtakes finds the account',
    async () => {
      const { email, signIn } = await staffed();
      const overtaken = await overtake(signIn, signIn);
      expect(overtaken.map(({ status }) => status)).toEqual([200, 200]);
      expect(await Account.count({ where: { email } })).toBe(1);
    },
  );

  test('§4.2 a bind uses DNs with commas, backslashes, quotes and umlauts unchanged', async () => {
    const { org, domain } = await staffed({ searchFilter: '(mail={username})' });
    for (const cn of ['Byron, Ada', 'Ada\\Byron', 'Jürgen "Jo" Müller', '#1 + <2>', ' spaced ']) {
      const mail = `${fresh('dn')}@${domain}`;
      await slapd.apply(
        `dn:: ${Buffer.from(`cn=${cn.replace(/[,\\+"<>#;]|^ | $/g, '\\$&')},ou=people,${suffix}`).toString('base64')}\n` +
          `objectClass: inetOrgPerson\ncn:: ${Buffer.from(cn).toString('base64')}\nsn: x\nmail: ${mail}\nuserPassword: Ada directory 1\n`,
      );
      expect(await signInByLdap(idctl, { username: mail, org: org.slug })).toMatchObject({
        status: 200,
      });
    }
  });

  test('§4.2 an entry without names gets its user name as its name; of several addresses, the address on the verified domain counts', async () => {
    const { org, domain } = await staffed({ familyNameAttribute: 'title' });
    const uid = fresh('bob');
    await slapd.person(uid, { mail: ['x@elsewhere.test', `${uid}@${domain}`] });
    const answer = await signInByLdap(idctl, { username: uid, org: org.slug });
    expect(answer).toMatchObject({
      status: 200,
      body: { user: { name: uid, email: `${uid}@${domain}` } },
    });
  });

  test('O3 removing the connection names the owners who can then no longer sign in', async () => {
    const { org, email, signIn } = await staffed();
    await signIn();
    await changeMemberRole(idctl.operator(), { org: org.slug, user: email, role: 'owner' });
    const { removeLdap } = await import('../../src/services/tenancy/ldap/operations.ts');
    expect(await removeLdap(idctl.operator(), { org: org.slug })).toMatchObject({
      people: [email],
      owners: [email],
    });
    const removed = await Event.findOne({
      where: { kind: 'ldap.removed', organizationId: org.id },
    });
    expect(removed?.data).toMatchObject({ owners: [email] });
    expect(await signIn()).toMatchObject({ status: 401 });
    expect(await Identity.count({ where: { organizationId: org.id } })).toBe(1);
    expect(await Membership.count({ where: { organizationId: org.id } })).toBe(2);
  });
});
