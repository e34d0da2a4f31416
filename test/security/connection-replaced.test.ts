import { setTimeout } from 'node:timers/promises';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { Session } from '../../src/database/models/session.ts';
import { transaction } from '../../src/database/transaction.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { removeDomain } from '../../src/services/tenancy/domains/operations.ts';
import { attachIdentity } from '../../src/services/tenancy/identities/attach.ts';
import {
  listIdentities,
  unlinkIdentities,
} from '../../src/services/tenancy/identities/operations.ts';
import type { OutsideProof } from '../../src/services/tenancy/identities/plan.ts';
import { takeOver } from '../../src/services/tenancy/identities/reclaim.ts';
import { changeLdap, removeLdap, saveLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { saveLdapInput } from '../../src/services/tenancy/ldap/schema.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { changeMemberRole } from '../../src/services/tenancy/memberships/operations.ts';
import { deleteOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { deleteUser } from '../../src/services/tenancy/profile/operations.ts';
import { requireSameConnection } from '../../src/services/tenancy/sso/connection.ts';
import { removeSso, saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import {
  fresh,
  organization,
  password,
  person,
  signedIn,
  verifiedDomain,
} from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { joined, settingsFor, signInByLdap } from '../support/ldap.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { overtake } from '../support/overtake.ts';
import {
  entry,
  type Request,
  result,
  startScriptedDirectory,
} from '../support/scripted-directory.ts';
import { type Slapd, service, startSlapd, suffix } from '../support/slapd.ts';
import { connected, registration, signInAt } from '../support/sso.ts';
import { enrolled } from '../support/two-factor.ts';

// The attack: an admin replaces the connection with one to a provider of their own, which claims
// to authenticate every member.

let idctl: Idctl;
let honest: OpenIdProvider;
let hostile: OpenIdProvider;
beforeAll(async () => {
  idctl = await openIdctl({
    orgs: { creation: 'anyone' },
    outbound: { allow: ['127.0.0.1', 'localhost'] },
    limits: { addressFailures: 1_000_000 },
  });
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const clients = [
    { client_id, client_secret, redirect_uris: [`${idctl.baseUrl}/auth/sso/callback`] },
  ];
  honest = await startOpenIdProvider({ clients });
  hostile = await startOpenIdProvider({ clients });
});
afterAll(async () => {
  await hostile?.stop();
  await honest?.stop();
  await idctl.close();
});

const refused = { status: 401, body: { code: 'signin_failed' }, cookies: [] };
const codeAsked = { status: 401, body: { code: 'second_factor_required' } };

/** Adds a person with this address to the provider. Returns the person's subject. */
function asserted(at: OpenIdProvider, email: string, sub = fresh('sub')): string {
  at.people.set(sub, { email, email_verified: true, name: 'Ada Byron' });
  return sub;
}

async function events(org: string, kind: string) {
  return (await listEvents(idctl.operator(), { org, kind, limit: 50 })).items.map(
    ({ data }) => data,
  );
}

/** An organization, its owner, and a member who signed in through its connection. */
async function company() {
  const { org, domain } = await connected(idctl, honest.issuer);
  const email = `${fresh('ada')}@${domain}`;
  const sub = asserted(honest, email);
  const ada = await signInAt(idctl, honest, domain, sub);
  expect(ada.answer.status).toBe(200);
  const owner = await signedIn(idctl, org.owner.email);
  const path = `/api/v1/orgs/${org.slug}`;
  const save = ({ issuer }: OpenIdProvider, more: object = {}) =>
    owner.send('PUT', `${path}/sso`, {
      body: { emailDomain: domain, issuer, ...registration, enabled: true, ...more },
    });
  const replace = async (by: OpenIdProvider, more: object = {}) => {
    expect((await owner.send('DELETE', `${path}/sso`)).status).toBe(204);
    expect((await save(by, more)).status).toBe(200);
  };
  const relink = (body: object) => owner.post(`${path}/sso/relink`, body);
  return {
    org,
    domain,
    email,
    sub,
    ada,
    id: String(ada.answer.body.user.id),
    owner,
    path,
    save,
    replace,
    relink,
  };
}

describe('I1 a connection that is removed and created again', () => {
  test('I1 does not give a linked account to another provider: the sign-in is refused as a conflict, with an event', async () => {
    const { org, domain, email, id, replace } = await company();
    await replace(hostile);
    const attack = await signInAt(idctl, hostile, domain, asserted(hostile, email));
    expect(attack.answer).toMatchObject(refused);
    expect(await events(org.slug, 'sso.signin.refused')).toMatchObject([
      { reason: 'identity_conflict' },
    ]);
    expect(await Identity.findAll({ where: { accountId: id } })).toMatchObject([
      { issuer: honest.issuer },
    ]);
    // A person without an account can sign in at once.
    const late = await signInAt(idctl, hostile, domain, asserted(hostile, `cy@${domain}`));
    expect(late.answer.status).toBe(200);
  });

  test('I1 does not give a linked account to another subject of the same provider, but accepts the former subject', async () => {
    const { org, domain, email, sub, id, replace } = await company();
    await replace(honest);
    const attack = await signInAt(idctl, honest, domain, asserted(honest, email));
    expect(attack.answer).toMatchObject(refused);
    // A former key identifies the account, whatever address the provider sends now.
    asserted(honest, `renamed-${email}`, sub);
    const back = await signInAt(idctl, honest, domain, sub);
    expect(back.answer).toMatchObject({ status: 200, body: { user: { id, email } } });
    expect(await Identity.count({ where: { accountId: id } })).toBe(1);
    expect(await Account.count({ where: { email: `renamed-${email}` } })).toBe(0);
    expect(await events(org.slug, 'identity.linked')).toHaveLength(2);
    // After two more replacements, the former subject is still accepted.
    await replace(hostile);
    await replace(honest);
    expect((await signInAt(idctl, honest, domain, sub)).answer.body.user.id).toBe(id);
  });

  // On SQLite, the second transaction would wait for the first.
  test.runIf(dialect === 'postgres')(
    'I1 accepts two sign-ins at once with the same former key',
    async () => {
      const { domain, sub, id, replace } = await company();
      await replace(honest);
      const signIn = () => signInAt(idctl, honest, domain, sub);
      const both = await overtake(signIn, signIn);
      expect(both.map(({ answer }) => answer.body.user?.id)).toEqual([id, id]);
    },
  );

  test('I1 ends the sessions that began through it, and no others', async () => {
    const { org, ada, email, domain } = await company();
    const neighbour = await company();
    const { account, client } = await enrolled(idctl, `${fresh('bob')}@${domain}`);
    const view = await idctl.app.rehearse(() => removeSso(idctl.operator(), { org: org.slug }));
    expect(view).toMatchObject({ people: [email], sessionsEnded: 1 });
    expect((await ada.client.get('/api/v1/me')).status).toBe(200);
    await removeSso(idctl.operator(), { org: org.slug });
    expect((await ada.client.get('/api/v1/me')).status).toBe(401);
    expect((await ada.client.post('/api/v1/auth/refresh', {})).status).toBe(401);
    expect((await client.get('/api/v1/me')).body.id).toBe(account.id);
    expect((await neighbour.ada.client.get('/api/v1/me')).status).toBe(200);
    expect(await events(org.slug, 'sso.removed')).toEqual([{ owners: [], sessionsEnded: 1 }]);
  });

  test('I1 is removed only after the sign-ins in progress are complete', async () => {
    const { org, domain } = await connected(idctl, honest.issuer);
    const owner = await signedIn(idctl, org.owner.email);
    const { connectionId } = await Identity.findOne({
      where: {
        accountId: (await signInAt(idctl, honest, domain, asserted(honest, `a@${domain}`))).answer
          .body.user.id,
      },
      rejectOnEmpty: true,
    });
    const state = {
      ...{
        id: '',
        connection: connectionId,
        issuer: honest.issuer,
        clientId: registration.clientId,
      },
      ...{
        redirectUri: `${idctl.baseUrl}/auth/sso/callback`,
        returnTo: '/',
        browser: '',
        expires: 0,
      },
    };
    const order: string[] = [];
    let removal: Promise<unknown> = Promise.resolve();
    await transaction(async () => {
      await requireSameConnection(idctl.operator(), state);
      removal = owner
        .send('DELETE', `/api/v1/orgs/${org.slug}/sso`)
        .then(({ status }) => order.push(`removed ${status}`));
      // A removal that does not wait finishes within this time.
      await Promise.race([removal, setTimeout(500)]);
      order.push('signed in');
    });
    await removal;
    expect(order).toEqual(['signed in', 'removed 204']);
  });

  test('I1 leaves former keys, which the operator can list and unlink; then another provider can link the account', async () => {
    const { domain, email, id, replace } = await company();
    await replace(hostile);
    const { items } = await listIdentities(idctl.operator(), { user: id, limit: 50 });
    expect(items).toMatchObject([{ issuer: honest.issuer, former: true }]);
    await unlinkIdentities(idctl.operator(), { id: items[0]?.id });
    const sub = asserted(hostile, email);
    expect((await signInAt(idctl, hostile, domain, sub)).answer.body.user.id).toBe(id);
    const now = await listIdentities(idctl.operator(), { user: id, limit: 50 });
    expect(now.items.map(({ former }) => former)).toEqual([undefined]);
  });

  test('I1 leaves former keys that are deleted with their account, and with their organization', async () => {
    const { org, domain, email, id, replace } = await company();
    await replace(hostile);
    await deleteUser(idctl.operator(), { user: id });
    const sub = asserted(hostile, email);
    const next = await signInAt(idctl, hostile, domain, sub);
    expect(next.answer.status).toBe(200);
    expect(next.answer.body.user.id).not.toBe(id);
    await removeSso(idctl.operator(), { org: org.slug });
    await deleteOrganization(idctl.operator(), { org: org.slug });
    expect(await Identity.count({ where: { organizationId: org.id } })).toBe(0);
    const heir = await organization(idctl);
    await verifiedDomain(idctl, heir.slug, domain);
    const input = { org: heir.slug, emailDomain: domain, issuer: honest.issuer, ...registration };
    await saveSso(idctl.operator(), saveSsoInput.parse({ ...input, enabled: true }));
    const inherited = await signInAt(idctl, honest, domain, asserted(honest, email));
    expect(inherited.answer.body.user.id).toBe(next.answer.body.user.id);
  });

  test('I1 I3 does not give a linked account to another provider, even if the domain is verified again or the account taken over', async () => {
    const { org, domain, email, id, replace } = await company();
    await removeDomain(idctl.operator(), { org: org.slug, domain });
    await verifiedDomain(idctl, org.slug, domain);
    await replace(hostile);
    const sub = asserted(hostile, email);
    expect((await signInAt(idctl, hostile, domain, sub)).answer).toMatchObject(refused);
    const account = await Account.findByPk(id, { rejectOnEmpty: true });
    await transaction(() =>
      takeOver(idctl.operator(), account, { by: 'domain', organizationId: org.id }),
    );
    expect((await signInAt(idctl, hostile, domain, sub)).answer).toMatchObject(refused);
  });
});

describe('I1 relinking after a change of provider', () => {
  test('I1 an owner with a session can relink over REST, including former keys; an admin, or an owner with a token, cannot', async () => {
    const { org, domain, email, id, owner, path, replace, relink } = await company();
    await replace(hostile);
    const sub = asserted(hostile, email);
    const from = { fromIssuer: honest.issuer };
    const { token } = await createToken(idctl.operator(), { user: org.owner.id, name: 'ci' });
    const bearer = idctl.client({ headers: { authorization: `Bearer ${token}` } });
    expect(await bearer.post(`${path}/sso/relink`, from)).toMatchObject({
      status: 403,
      body: { code: 'session_required' },
    });
    const deputy = await person(idctl);
    await addMember(idctl.operator(), { org: org.slug, email: deputy.email ?? '', role: 'admin' });
    const admin = await signedIn(idctl, deputy.email);
    expect((await admin.post(`${path}/sso/relink`, from)).body).toMatchObject({
      code: 'forbidden',
    });
    expect((await signInAt(idctl, hostile, domain, sub)).answer).toMatchObject(refused);

    expect(await relink(from)).toMatchObject({
      status: 200,
      body: { ...from, issuer: hostile.issuer, people: [email], sessionsEnded: 0 },
    });
    expect((await signInAt(idctl, hostile, domain, sub)).answer.body.user.id).toBe(id);
    expect(await events(org.slug, 'sso.relinked')).toEqual([
      { ...from, people: 1, sessionsEnded: 0 },
    ]);
    const again = await relink(from);
    expect(again).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(again.body.hint).toContain(hostile.issuer);
    expect((await owner.get(`${path}/sso`)).body.issuer).toBe(hostile.issuer);
  });
});

describe('P12 the second factor at single sign-on', () => {
  /** A person with a second factor, whose domain belongs to the hostile organization. */
  async function victim() {
    const { org, domain } = await connected(idctl, hostile.issuer);
    const { account, code } = await enrolled(idctl, `${fresh('ada')}@${domain}`);
    const email = account.email ?? '';
    return { org, domain, email, id: account.id, code, sub: asserted(hostile, email) };
  }

  test.each(['member', 'owner'] as const)(
    'P12 is asked for if the account has the role %s in an organization that does not own the connection',
    async (role) => {
      const { domain, email, id, code, sub } = await victim();
      const tenant = await organization(idctl);
      await addMember(idctl.operator(), { org: tenant.slug, email, role });
      const { client, answer } = await signInAt(idctl, hostile, domain, sub);
      expect(answer).toMatchObject(codeAsked);
      expect(await Identity.count({ where: { accountId: id } })).toBe(0);
      expect((await client.get('/api/v1/me')).status).toBe(401);
      const done = await client.post('/api/v1/auth/second-factor', { totpCode: code() });
      expect(done).toMatchObject({ status: 200, body: { user: { id } } });
      // The next sign-in finds the account by its key, and asks for the code too.
      expect((await signInAt(idctl, hostile, domain, sub)).answer).toMatchObject(codeAsked);
    },
  );

  test('P12 is not asked for if the account belongs only to the connection’s organization', async () => {
    const { org, domain, email, id, sub } = await victim();
    await addMember(idctl.operator(), { org: org.slug, email, role: 'admin' });
    expect((await signInAt(idctl, hostile, domain, sub)).answer.body.user.id).toBe(id);
  });

  test('P12 a session that the provider began ends when another organization adds the account', async () => {
    const { org, domain, email, id, code, sub } = await victim();
    await addMember(idctl.operator(), { org: org.slug, email, role: 'admin' });
    const { client, answer } = await signInAt(idctl, hostile, domain, sub);
    expect(answer.body.user.id).toBe(id);
    const own = await idctl
      .client()
      .post('/api/v1/auth/login', { email, password, totpCode: code() });
    const tenant = await organization(idctl);
    await addMember(idctl.operator(), { org: tenant.slug, email, role: 'admin' });
    expect((await client.get('/api/v1/me')).status).toBe(401);
    const authorization = `Bearer ${own.body.accessToken}`;
    expect((await idctl.client().get('/api/v1/me', { authorization })).status).toBe(200);
  });

  test('P12 a session that the provider began ends when the account creates an organization', async () => {
    const { org, domain, email, id, code, sub } = await victim();
    await addMember(idctl.operator(), { org: org.slug, email, role: 'member' });
    const { client, answer } = await signInAt(idctl, hostile, domain, sub);
    expect(answer.body.user.id).toBe(id);
    const own = await idctl
      .client()
      .post('/api/v1/auth/login', { email, password, totpCode: code() });
    const headers = { authorization: `Bearer ${own.body.accessToken}` };
    const founding = { body: { name: fresh('own') }, headers };
    const made = await idctl.client().send('POST', '/api/v1/orgs', founding);
    expect(made.status).toBe(201);
    expect((await client.get(`/api/v1/orgs/${made.body.slug}`)).status).toBe(401);
    expect((await idctl.client().get('/api/v1/me', headers)).status).toBe(200);
  });

  test('P12 a session that the provider began ends when the account gets a second factor; the session that set it up continues', async () => {
    const { domain, email, sub } = await company();
    const tenant = await organization(idctl);
    await addMember(idctl.operator(), { org: tenant.slug, email, role: 'admin' });
    const [other, own] = [
      await signInAt(idctl, honest, domain, sub),
      await signInAt(idctl, honest, domain, sub),
    ];
    expect(other.answer.status).toBe(200);
    const { secret } = (await own.client.post('/api/v1/me/totp')).body;
    const code = generateSync({ secret, epoch: Math.floor(idctl.app.clock().getTime() / 1000) });
    expect((await own.client.post('/api/v1/me/totp/confirm', { code })).status).toBe(200);
    expect((await other.client.get('/api/v1/me')).status).toBe(401);
    expect((await own.client.get('/api/v1/me')).status).toBe(200);
  });

  test('P12 is asked for in a sign-in that waits while another organization adds the account', async () => {
    const { org, domain, email, id, sub } = await victim();
    await addMember(idctl.operator(), { org: org.slug, email, role: 'member' });
    const tenant = await organization(idctl);
    let signingIn: ReturnType<typeof signInAt> | undefined;
    await transaction(async () => {
      await addMember(idctl.operator(), { org: tenant.slug, email, role: 'member' });
      signingIn = signInAt(idctl, hostile, domain, sub);
      // Gives the sign-in time to reach the lock. A slower sign-in does not fail the test.
      await Promise.race([signingIn, setTimeout(1000)]);
    });
    expect((await signingIn)?.answer).toMatchObject(codeAsked);
    expect(await Session.count({ where: { accountId: id, method: 'sso', endedAt: null } })).toBe(0);
  });

  test('P12 an account without a second factor is never asked for one, whatever its memberships', async () => {
    const { domain, email, sub } = await company();
    const tenant = await organization(idctl);
    await addMember(idctl.operator(), { org: tenant.slug, email, role: 'admin' });
    expect((await signInAt(idctl, honest, domain, sub)).answer.status).toBe(200);
  });

  test('P12 I3 an account that another organization has added keeps its second factor when the domain is given up', async () => {
    const { org, domain, email, id, code, sub } = await victim();
    await transaction(() => Account.update({ emailProof: 'domain' }, { where: { id } }));
    const tenant = await organization(idctl);
    await addMember(idctl.operator(), { org: tenant.slug, email, role: 'member' });
    await removeDomain(idctl.operator(), { org: org.slug, domain });
    const next = await organization(idctl);
    await verifiedDomain(idctl, next.slug, domain);
    const input = { org: next.slug, emailDomain: domain, issuer: hostile.issuer, ...registration };
    await saveSso(idctl.operator(), saveSsoInput.parse({ ...input, enabled: true }));
    const { client, answer } = await signInAt(idctl, hostile, domain, sub);
    expect(answer).toMatchObject(codeAsked);
    expect(await events(next.slug, 'account.reclaimed')).toEqual([]);
    const done = await client.post('/api/v1/auth/second-factor', { totpCode: code() });
    expect(done).toMatchObject({ status: 200, body: { user: { id, twoFactorEnabled: true } } });
    expect(await events(next.slug, 'account.reclaimed')).toHaveLength(1);
  });
});

describe('D5 sessions that began through a domain', () => {
  test('D5 end when the domain is given up, with an event that names the owners; other sessions continue', async () => {
    const { org, domain, email, id, ada, owner, path } = await company();
    await changeMemberRole(idctl.operator(), { org: org.slug, user: email, role: 'owner' });
    const rehearsed = await idctl.app.rehearse(() =>
      removeDomain(idctl.operator(), { org: org.slug, domain }),
    );
    expect(rehearsed).toMatchObject({ ssoDisabled: true, owners: [email], sessionsEnded: 1 });
    expect((await ada.client.get('/api/v1/me')).body.id).toBe(id);
    expect((await owner.send('DELETE', `${path}/domains/${domain}`)).status).toBe(204);
    expect((await ada.client.get('/api/v1/me')).status).toBe(401);
    expect((await owner.get('/api/v1/me')).status).toBe(200);
    expect(await events(org.slug, 'domain.removed')).toEqual([
      { state: 'Verified', ssoDisabled: true, owners: [email], sessionsEnded: 1 },
    ]);
  });

  test('D5 also end if the connection was disabled or saved for another domain before', async () => {
    for (const more of [
      { enabled: false },
      { emailDomain: `${fresh('other')}.test`, enabled: false },
    ]) {
      const { domain, ada, owner, path, save } = await company();
      expect((await save(honest, more)).status).toBe(200);
      expect((await ada.client.get('/api/v1/me')).status).toBe(200);
      await owner.send('DELETE', `${path}/domains/${domain}`);
      expect((await ada.client.get('/api/v1/me')).status).toBe(401);
    }
  });
});

describe.skipIf(counterpartMissing('slapd'))('I1 a directory that is replaced', () => {
  let slapd: Slapd;
  beforeAll(async () => {
    slapd = await startSlapd();
  });
  afterAll(() => slapd?.stop());

  /** A member who signed in through the directory, whose host name is `localhost`. */
  async function staffed() {
    const settings = { ...settingsFor(slapd), uri: slapd.ldaps.replace('127.0.0.1', 'localhost') };
    const { org, domain } = await joined(idctl, settings);
    const uid = fresh('ada');
    const email = `${uid}@${domain}`;
    await slapd.person(uid, { mail: email });
    const first = await signInByLdap(idctl, { username: uid, org: org.slug });
    expect(first.status).toBe(200);
    const me = () =>
      idctl
        .client({ headers: { authorization: `Bearer ${first.body.accessToken}` } })
        .get('/api/v1/me');
    const key = await Identity.findOne({
      where: { accountId: first.body.user.id },
      rejectOnEmpty: true,
    });
    const save = (more: object) =>
      saveLdap(
        idctl.operator(),
        saveLdapInput.parse({ org: org.slug, enabled: true, ...settings, ...more }),
      );
    const owner = await signedIn(idctl, org.owner.email);
    const path = `/api/v1/orgs/${org.slug}/ldap`;
    const signIn = () => signInByLdap(idctl, { username: uid, org: org.slug });
    return {
      org,
      domain,
      uid,
      email,
      id: String(first.body.user.id),
      me,
      key,
      save,
      owner,
      path,
      signIn,
    };
  }

  /** An attacker's directory, which returns the same given entry for every search. */
  async function lying(mail: string, entryUUID: string, dn = `uid=ada,ou=people,${suffix}`) {
    const directory = await startScriptedDirectory((request: Request) =>
      request.kind === 'search'
        ? Buffer.concat([
            entry(request, dn, { mail: [mail], entryUUID: [entryUUID] }),
            result(request),
          ])
        : result(request),
    );
    onTestFinished(() => directory.stop());
    return { uri: directory.uri, tls: false, caCertificate: null, ...service };
  }

  test('I1 sessions end with the connection; a new connection to the same server accepts the former entries', async () => {
    const { org, id, me, save, owner, path, signIn } = await staffed();
    expect((await owner.send('DELETE', path)).status).toBe(204);
    expect((await me()).status).toBe(401);
    expect(await events(org.slug, 'ldap.removed')).toEqual([{ owners: [], sessionsEnded: 1 }]);
    await save({});
    expect((await signIn()).body.user.id).toBe(id);
    // The same server on another port returns the same entry.
    await removeLdap(idctl.operator(), { org: org.slug });
    await save({ uri: slapd.ldap.replace('127.0.0.1', 'localhost') });
    expect((await signIn()).body.user.id).toBe(id);
    expect(await Identity.count({ where: { accountId: id } })).toBe(1);
  });

  test.each(['removed and made again', 'changed in place'])(
    'I1 if a connection is %s for another server, the server does not get a linked account, whatever entryUUID it sends',
    async (how) => {
      const { org, email, id, key, save, owner, path, signIn } = await staffed();
      if (how === 'removed and made again') await owner.send('DELETE', path);
      for (const uuid of [key.subject, crypto.randomUUID()]) {
        await save(await lying(email, uuid));
        expect(await signIn()).toMatchObject(refused);
      }
      // The former entryUUID with an unknown address does not lead to the account either.
      await save(await lying(`new-${email}`, key.subject));
      if (how === 'changed in place') expect(await signIn()).toMatchObject(refused);
      expect(await Identity.findAll({ where: { accountId: id } })).toMatchObject([{ id: key.id }]);
      const said = await events(org.slug, 'ldap.signin.refused');
      expect(new Set(said.map(({ reason }) => reason))).toEqual(new Set(['identity_conflict']));
    },
  );

  test('I1 an owner with a session can relink a directory; a token cannot', async () => {
    const { org, email, id, save, owner, path, signIn } = await staffed();
    await removeLdap(idctl.operator(), { org: org.slug });
    await save(await lying(email, crypto.randomUUID()));
    const { token } = await createToken(idctl.operator(), { user: org.owner.id, name: 'ci' });
    const bearer = idctl.client({ headers: { authorization: `Bearer ${token}` } });
    expect((await bearer.post(`${path}/relink`)).body).toMatchObject({ code: 'session_required' });
    const done = await owner.post(`${path}/relink`);
    expect(done).toMatchObject({ status: 200, body: { people: [email], sessionsEnded: 0 } });
    expect(await events(org.slug, 'ldap.relinked')).toEqual([{ people: 1, sessionsEnded: 0 }]);
    expect((await signIn()).body.user.id).toBe(id);
    const again = await owner.post(`${path}/relink`);
    expect(again).toMatchObject({ status: 200, body: { people: [email], sessionsEnded: 1 } });
    expect(await owner.post(`${path}/relink`)).toMatchObject({ status: 404 });
  });

  test('D5 sessions of people on a domain that is given up end; those of people on another domain continue', async () => {
    const { org, domain, me, owner, path, uid } = await staffed();
    const second = await verifiedDomain(idctl, org.slug);
    const bob = fresh('bob');
    await slapd.person(bob, { mail: `${bob}@${second}` });
    const { body } = await signInByLdap(idctl, { username: bob, org: org.slug });
    const client = idctl.client({ headers: { authorization: `Bearer ${body.accessToken}` } });
    const user = `${uid}@${domain}`;
    await changeMemberRole(idctl.operator(), { org: org.slug, user, role: 'owner' });
    await owner.send('DELETE', path.replace(/ldap$/, `domains/${domain}`));
    expect((await me()).status).toBe(401);
    expect((await client.get('/api/v1/me')).status).toBe(200);
    expect(await events(org.slug, 'domain.removed')).toMatchObject([
      { owners: [user], sessionsEnded: 1 },
    ]);
  });

  test('I1 a server is recognized by its host name, even if the search filter changes', async () => {
    const { org, id, signIn } = await staffed();
    await changeLdap(idctl.operator(), {
      org: org.slug,
      searchFilter: '(&(uid={username})(sn=*))',
    });
    expect((await signIn()).body.user.id).toBe(id);
  });
});

test('I1 three sign-ins at once with one former key leave one key', async () => {
  const { org, domain, email, sub, id, replace } = await company();
  await replace(honest);
  const { connectionId } = await Identity.findOne({
    where: { accountId: id },
    rejectOnEmpty: true,
  });
  const answers = await Promise.all([1, 2, 3].map(() => signInAt(idctl, honest, domain, sub)));
  expect(answers.map(({ answer }) => answer.status)).toEqual([200, 200, 200]);
  const keys = await Identity.findAll({ where: { accountId: id } });
  expect(keys).toHaveLength(1);
  expect(keys[0]?.connectionId).not.toBe(connectionId);
  // In another organization, the same subject is no former key.
  const other = await connected(idctl, honest.issuer);
  const proof: OutsideProof = {
    ...{ kind: 'sso', issuer: honest.issuer, subject: sub, server: null, keysSince: null },
    ...{ connection: { id: crypto.randomUUID(), organizationId: other.org.id } },
    ...{ email: `eve@${other.domain}`, name: 'Eve', unapproved: false },
  };
  const eve = await transaction(() => attachIdentity(idctl.operator(), proof));
  expect(eve?.account.email).toBe(`eve@${other.domain}`);
  expect(org.slug).not.toBe(other.org.slug);
  expect(email).not.toBe(eve?.account.email);
});
