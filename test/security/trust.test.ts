import { setTimeout } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { Session } from '../../src/database/models/session.ts';
import { transaction } from '../../src/database/transaction.ts';
import { findVerified } from '../../src/services/foundation/domain-names/owns.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { authenticate } from '../../src/services/people/authentication/authenticate.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { disableUser, enableUser } from '../../src/services/people/users/operations.ts';
import { admit, holdForSecondFactor } from '../../src/services/signin/admit.ts';
import { openLoginLink } from '../../src/services/signin/flow.ts';
import { byLoginLink, createLoginLink } from '../../src/services/signin/methods/link.ts';
import { bySocial } from '../../src/services/signin/methods/social.ts';
import { answerPendingSignIn } from '../../src/services/signin/pending.ts';
import {
  addDomain,
  assertDomain,
  removeDomain,
} from '../../src/services/tenancy/domains/operations.ts';
import {
  listIdentities,
  unlinkIdentities,
} from '../../src/services/tenancy/identities/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { listMembers, removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { deleteOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { enableSso, saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { relinkSso } from '../../src/services/tenancy/sso/relink.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import {
  fresh,
  organization,
  password,
  person,
  signedIn,
  verifiedDomain,
} from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { connected, registration, signInAt, start } from '../support/sso.ts';

// The attackers are an admin who wants another organization's accounts, a provider that lies, and a
// stranger who had the address first.

let idctl: Idctl;
/** One of two providers. Each test decides which organization uses which one. */
let provider: OpenIdProvider;
let other: OpenIdProvider;
beforeAll(async () => {
  idctl = await openIdctl({
    outbound: { allow: ['127.0.0.1'] },
    signup: { open: 'on' },
  });
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const redirect_uris = [`${idctl.baseUrl}/auth/sso/callback`];
  const clients = [{ client_id, client_secret, redirect_uris }];
  provider = await startOpenIdProvider({ clients });
  other = await startOpenIdProvider({ clients });
});
afterAll(async () => {
  await other?.stop();
  await provider?.stop();
  await idctl.close();
});

const refused = { status: 401, body: { code: 'signin_failed' }, cookies: [] };

/** Makes the provider assert a person with this verified address; returns the subject. */
function asserted(at: OpenIdProvider, email: string, sub = fresh('sub')): string {
  at.people.set(sub, { email, email_verified: true, name: 'Ada Byron' });
  return sub;
}

/** The settings of an organization's connection, to save it again with a change. */
function settings(org: string, emailDomain: string, issuer: string, more: object = {}) {
  return saveSsoInput.parse({ org, emailDomain, issuer, ...registration, enabled: true, ...more });
}

/** Signs up as a stranger with the address, before an organization verifies the domain. */
async function stranger(email: string) {
  const client = idctl.client({ keepCookies: true });
  const answer = await client.post('/api/v1/auth/signup', { email, password, name: 'Mallory' });
  expect(answer.status).toBe(201);
  return { client, id: String(answer.body.user.id), accessToken: String(answer.body.accessToken) };
}

/** Makes an organization with a domain name. `open` verifies the domain and enables SSO. */
async function newcomer(issuer: string) {
  const org = await organization(idctl);
  const domain = `${fresh('d')}.test`;
  const open = async (more?: object) => {
    await verifiedDomain(idctl, org.slug, domain);
    await saveSso(idctl.operator(), settings(org.slug, domain, issuer, more));
  };
  return { org, domain, open };
}

async function eventsOf(org: string, kind: string) {
  return (await listEvents(idctl.operator(), { org, kind, limit: 50 })).items;
}

async function reasons(org: string): Promise<unknown[]> {
  return (await eventsOf(org, 'sso.signin.refused')).map(({ data }) => data['reason']);
}

describe('I1 one place links accounts, by the external identity', () => {
  test('I1 a changed subject is refused and recorded until the operator unlinks the old identity, which ends its sessions', async () => {
    const { org, domain } = await connected(idctl, provider.issuer);
    const email = `ada@${domain}`;
    const first = await signInAt(idctl, provider, domain, asserted(provider, email));
    const successor = asserted(provider, email);
    expect((await signInAt(idctl, provider, domain, successor)).answer).toMatchObject(refused);
    expect(await reasons(org.slug)).toEqual(['identity_conflict']);

    const { items } = await listIdentities(idctl.operator(), { user: email, limit: 50 });
    const unlinked = await unlinkIdentities(idctl.operator(), { id: items[0]?.id });
    expect(unlinked).toMatchObject({ email, identities: items, sessionsEnded: 1 });
    expect((await first.client.get('/api/v1/me')).status).toBe(401);
    expect(await eventsOf(org.slug, 'identity.unlinked')).toMatchObject([
      { actor: { kind: 'operator' }, data: { kind: 'sso', issuer: provider.issuer } },
    ]);
    const again = await signInAt(idctl, provider, domain, successor);
    expect(again.answer.body.user.id).toBe(first.answer.body.user.id);
  });

  test('I1 an identity belongs to one connection: the same subject at another organization’s connection is another person', async () => {
    const [mine, theirs] = [
      await connected(idctl, provider.issuer),
      await connected(idctl, provider.issuer),
    ];
    const sub = asserted(provider, `ada@${mine.domain}`);
    const me = await signInAt(idctl, provider, mine.domain, sub);
    asserted(provider, `ada@${theirs.domain}`, sub);
    const neighbour = await signInAt(idctl, provider, theirs.domain, sub);
    expect(neighbour.answer.status).toBe(200);
    expect(neighbour.answer.body.user.id).not.toBe(me.answer.body.user.id);
    expect(await Identity.count({ where: { accountId: me.answer.body.user.id } })).toBe(1);
  });

  test('I1 after a change of provider, people with accounts are refused until `sso relink`, and then reach their accounts again', async () => {
    const { org, domain } = await connected(idctl, provider.issuer);
    const [ada, bob] = [`ada@${domain}`, `bob@${domain}`];
    const before = await signInAt(idctl, provider, domain, asserted(provider, ada));
    await signInAt(idctl, provider, domain, asserted(provider, bob));
    await saveSso(idctl.operator(), settings(org.slug, domain, other.issuer));
    const sub = asserted(other, ada);
    expect((await signInAt(idctl, other, domain, sub)).answer).toMatchObject(refused);
    expect(await reasons(org.slug)).toEqual(['identity_conflict']);
    // A new person at the new provider can sign in before the relink.
    const late = await signInAt(idctl, other, domain, asserted(other, `cy@${domain}`));
    expect(late.answer.status).toBe(200);

    const change = { org: org.slug, fromIssuer: provider.issuer };
    const view = {
      people: [ada, bob],
      sessionsEnded: 2,
      issuer: other.issuer,
      fromIssuer: provider.issuer,
    };
    const rehearsed = await idctl.app.rehearse(() => relinkSso(idctl.operator(), change));
    expect(rehearsed).toEqual(view);
    expect((await before.client.get('/api/v1/me')).status).toBe(200);
    expect(await relinkSso(idctl.operator(), change)).toEqual(view);
    expect((await before.client.get('/api/v1/me')).status).toBe(401);
    expect((await late.client.get('/api/v1/me')).status).toBe(200);
    expect((await signInAt(idctl, other, domain, sub)).answer.body.user.id).toBe(
      before.answer.body.user.id,
    );
    expect(await eventsOf(org.slug, 'sso.relinked')).toMatchObject([
      {
        actor: { kind: 'operator' },
        data: { fromIssuer: provider.issuer, people: 2, sessionsEnded: 2 },
      },
    ]);
    await expect(relinkSso(idctl.operator(), change)).rejects.toMatchObject({
      code: 'not_found',
      hint: `Name an issuer that accounts are linked through: ${other.issuer}`,
    });
  });

  test('I1 an identity from another connection of the same organization stays beside the new one', async () => {
    const { org, domain } = await connected(idctl, provider.issuer);
    const { id, email } = await person(idctl, `ada@${domain}`);
    const directory = {
      kind: 'ldap' as const,
      organizationId: org.id,
      connectionId: crypto.randomUUID(),
    };
    await transaction(() => Identity.create({ ...elsewhere(id), ...directory }));
    await signInAt(idctl, provider, domain, asserted(provider, email ?? ''));
    const { items } = await listIdentities(idctl.operator(), { user: id, limit: 50 });
    expect(items.map(({ kind }) => kind).toSorted()).toEqual(['ldap', 'sso']);
  });

  test('I1 a relink changes only its own organization, and only the operator can unlink', async () => {
    const [mine, theirs] = [
      await connected(idctl, provider.issuer),
      await connected(idctl, provider.issuer),
    ];
    const victim = await signInAt(
      idctl,
      provider,
      mine.domain,
      asserted(provider, `ada@${mine.domain}`),
    );
    await signInAt(idctl, provider, theirs.domain, asserted(provider, `eve@${theirs.domain}`));
    const change = { org: theirs.org.slug, fromIssuer: provider.issuer };
    expect((await relinkSso(idctl.operator(), change)).people).toEqual([`eve@${theirs.domain}`]);
    expect((await victim.client.get('/api/v1/me')).status).toBe(200);
    const { id: user } = victim.answer.body.user;
    expect(await Identity.count({ where: { accountId: user } })).toBe(1);

    const owner = await signedIn(idctl, theirs.org.owner.email);
    const admin = idctl.as(await authenticate(idctl.as({ kind: 'anonymous' }), owner.accessToken));
    await expect(unlinkIdentities(admin, { user })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(listIdentities(admin, { user, limit: 1 })).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect(await Identity.count({ where: { accountId: user } })).toBe(1);
  });
});

describe('I2 a provider is trusted only for verified domains', () => {
  test('I2 another organization’s provider that asserts my address is refused, and my account does not change', async () => {
    const [mine, theirs] = [
      await connected(idctl, provider.issuer),
      await connected(idctl, other.issuer),
    ];
    const email = `ada@${mine.domain}`;
    const me = await signInAt(idctl, provider, mine.domain, asserted(provider, email));
    expect(
      (await signInAt(idctl, other, theirs.domain, asserted(other, email))).answer,
    ).toMatchObject(refused);
    // The identity is linked honestly first, and its address changes afterwards.
    const sub = asserted(other, `eve@${theirs.domain}`);
    await signInAt(idctl, other, theirs.domain, sub);
    asserted(other, email, sub);
    expect((await signInAt(idctl, other, theirs.domain, sub)).answer).toMatchObject(refused);
    expect(await Identity.count({ where: { accountId: me.answer.body.user.id } })).toBe(1);
    const { items } = await listMembers(idctl.operator(), { org: theirs.org.slug, limit: 50 });
    expect(items.map((member) => member.email)).not.toContain(email);
  });

  test('I2 D4 an organization that claimed my domain first gains nothing, neither before I verify it nor after', async () => {
    const theirs = await organization(idctl);
    const { org, domain, open } = await newcomer(provider.issuer);
    await addDomain(idctl.operator(), { org: theirs.slug, domain });
    const claim = { ...settings(theirs.slug, domain, other.issuer), enabled: false };
    await saveSso(idctl.operator(), claim);
    const unverified = { code: 'domain_unverified' };
    await expect(enableSso(idctl.operator(), { org: theirs.slug })).rejects.toMatchObject(
      unverified,
    );
    await expect(saveSso(idctl.operator(), { ...claim, enabled: true })).rejects.toMatchObject(
      unverified,
    );
    expect((await idctl.client().get(`/auth/sso/start?domain=${domain}`)).status).toBe(404);

    await open();
    await expect(
      assertDomain(idctl.operator(), { org: theirs.slug, domain }),
    ).rejects.toMatchObject({
      code: 'domain_taken',
    });
    await expect(enableSso(idctl.operator(), { org: theirs.slug })).rejects.toMatchObject(
      unverified,
    );
    await expect(saveSso(idctl.operator(), claim)).rejects.toMatchObject({ code: 'domain_taken' });
    expect(await eventsOf(theirs.slug, 'sso.domain.lost')).toHaveLength(1);
    const url = await start(idctl.client(), domain);
    expect(url).toContain(provider.issuer);
    expect(org.slug).not.toBe(theirs.slug);
  });

  test('I2 D5 an organization that verifies a removed domain gets its accounts, and the identities of the old organization are void', async () => {
    const theirs = await connected(idctl, other.issuer);
    const email = `ada@${theirs.domain}`;
    const sub = asserted(other, email);
    const old = await signInAt(idctl, other, theirs.domain, sub);
    const accountId = old.answer.body.user.id;
    // The old owner's provider can make such a token for any address on the domain.
    const { token } = (await old.client.post('/api/v1/me/tokens', { name: 'for later' })).body;
    await removeDomain(idctl.operator(), { org: theirs.org.slug, domain: theirs.domain });
    await expect(enableSso(idctl.operator(), { org: theirs.org.slug })).rejects.toMatchObject({
      code: 'domain_unverified',
    });
    // The domain is mine now. The other organization verifies another domain, and its provider
    // sends the old subject.
    const { org } = await newcomer(provider.issuer);
    await verifiedDomain(idctl, org.slug, theirs.domain);
    await saveSso(idctl.operator(), settings(org.slug, theirs.domain, provider.issuer));
    const domain = await verifiedDomain(idctl, theirs.org.slug);
    await saveSso(idctl.operator(), settings(theirs.org.slug, domain, other.issuer));
    asserted(other, `ada@${domain}`, sub);
    const moved = await signInAt(idctl, other, domain, sub);
    expect(moved.answer.status).toBe(200);
    expect(moved.answer.body.user.id).not.toBe(accountId);
    expect((await old.client.get('/api/v1/me')).status).toBe(401);
    const mine = await signInAt(idctl, provider, theirs.domain, asserted(provider, email));
    expect(mine.answer.body.user.id).toBe(accountId);
    expect((await idctl.client().get('/api/v1/me', { 'x-api-key': token })).status).toBe(401);
    expect(await eventsOf(org.slug, 'account.reclaimed')).toHaveLength(1);
  });

  test('I3 after an organization is deleted, the next owner of its domain does not trust its proofs', async () => {
    const theirs = await connected(idctl, other.issuer);
    const email = `ada@${theirs.domain}`;
    const old = await signInAt(idctl, other, theirs.domain, asserted(other, email));
    const { token } = (await old.client.post('/api/v1/me/tokens', { name: 'for later' })).body;
    await deleteOrganization(idctl.operator(), { org: theirs.org.slug });
    expect((await idctl.client().get('/api/v1/me', { 'x-api-key': token })).status).toBe(200);
    const { org } = await newcomer(provider.issuer);
    await verifiedDomain(idctl, org.slug, theirs.domain);
    await saveSso(idctl.operator(), settings(org.slug, theirs.domain, provider.issuer));
    const mine = await signInAt(idctl, provider, theirs.domain, asserted(provider, email));
    expect(mine.answer.body.user.id).toBe(old.answer.body.user.id);
    expect((await idctl.client().get('/api/v1/me', { 'x-api-key': token })).status).toBe(401);
  });

  test('I3 if an organization removes a domain and verifies it again, its people lose only their sessions', async () => {
    const { org, domain } = await connected(idctl, provider.issuer);
    const sub = asserted(provider, `ada@${domain}`);
    const { client } = await signInAt(idctl, provider, domain, sub);
    await removeDomain(idctl.operator(), { org: org.slug, domain });
    await verifiedDomain(idctl, org.slug, domain);
    await enableSso(idctl.operator(), { org: org.slug });
    expect((await signInAt(idctl, provider, domain, sub)).answer.status).toBe(200);
    expect((await client.get('/api/v1/me')).status).toBe(401);
    expect(await eventsOf(org.slug, 'account.reclaimed')).toEqual([]);
  });

  test('D5 I2 a domain is removed after the sign-ins in progress, not during them', async () => {
    const { org, domain } = await connected(idctl, provider.issuer);
    const owner = await signedIn(idctl, org.owner.email);
    const order: string[] = [];
    let removal: Promise<unknown> = Promise.resolve();
    await transaction(async () => {
      await findVerified(org.id, domain);
      const remove = owner.send('DELETE', `/api/v1/orgs/${org.slug}/domains/${domain}`);
      removal = remove.then(({ status }) => order.push(`removed ${status}`));
      // A removal that does not wait finishes within this time.
      await Promise.race([removal, setTimeout(500)]);
      order.push('signed in');
    });
    await removal;
    expect(order).toEqual(['signed in', 'removed 204']);
  });

  test('I2 the first sign-in through the domain’s new organization ends the links and sessions of the old one, and nothing else', async () => {
    const theirs = await connected(idctl, other.issuer);
    const existing = await person(idctl, `ada@${theirs.domain}`);
    const old = await signInAt(idctl, other, theirs.domain, asserted(other, existing.email ?? ''));
    const own = await signedIn(idctl, existing.email);
    await removeDomain(idctl.operator(), { org: theirs.org.slug, domain: theirs.domain });
    const { org } = await newcomer(provider.issuer);
    await verifiedDomain(idctl, org.slug, theirs.domain);
    await saveSso(idctl.operator(), settings(org.slug, theirs.domain, provider.issuer));
    const sub = asserted(provider, existing.email ?? '');
    const mine = await signInAt(idctl, provider, theirs.domain, sub);
    expect(mine.answer.body.user.id).toBe(existing.id);
    expect((await old.client.get('/api/v1/me')).status).toBe(401);
    expect((await own.get('/api/v1/me')).status).toBe(200);
    const { items } = await listIdentities(idctl.operator(), { user: existing.id, limit: 50 });
    expect(items.map(({ issuer }) => issuer)).toEqual([provider.issuer]);
    expect(await eventsOf(theirs.org.slug, 'identity.unlinked')).toHaveLength(1);
  });

  test('I2 a company that changes its domain keeps its people: an identity stays valid until another organization verifies the old domain', async () => {
    const { org, domain } = await connected(idctl, provider.issuer);
    const sub = asserted(provider, `ada@${domain}`);
    const before = await signInAt(idctl, provider, domain, sub);
    await removeDomain(idctl.operator(), { org: org.slug, domain });
    const next = await verifiedDomain(idctl, org.slug);
    await saveSso(idctl.operator(), settings(org.slug, next, provider.issuer));
    asserted(provider, `ada@${next}`, sub);
    const after = await signInAt(idctl, provider, next, sub);
    expect(after.answer.body.user.id).toBe(before.answer.body.user.id);
  });
});

describe('I3 a stranger who had the address first', () => {
  test('I3 with proof auto, the password, sessions, tokens, second factor and other links are removed, with an event', async () => {
    const { org, domain, open } = await newcomer(provider.issuer);
    const email = `ada@${domain}`;
    const { client, id, accessToken } = await stranger(email);
    const token = (await client.post('/api/v1/me/tokens', { name: 'for later' })).body.token;
    expect((await idctl.client().get('/api/v1/me', { 'x-api-key': token })).status).toBe(200);
    await transaction(() =>
      Account.update(
        { totpSecret: 'sealed', totpEnabledAt: new Date(), totpLastStep: 1 },
        { where: { id } },
      ),
    );
    await transaction(() => Identity.create(elsewhere(id)));

    // Even with this setting, idctl does not ask for the stranger's second factor.
    await open({ requireLocalTwoFactor: true });
    expect((await client.get('/api/v1/me')).status).toBe(200);
    const sub = asserted(provider, email);
    const { answer } = await signInAt(idctl, provider, domain, sub);
    expect(answer.body.user).toMatchObject({
      id,
      email,
      name: 'Ada Byron',
      twoFactorEnabled: false,
    });
    for (const headers of [
      { authorization: `Bearer ${accessToken}` },
      { 'x-api-key': token },
      { cookie: `access_token=${accessToken}` },
    ]) {
      expect((await idctl.client().get('/api/v1/me', headers)).status).toBe(401);
    }
    expect((await client.post('/api/v1/auth/refresh')).status).toBe(401);
    await expect(signedIn(idctl, email)).rejects.toThrow('401');
    const { items } = await listIdentities(idctl.operator(), { user: email, limit: 50 });
    expect(items).toMatchObject([{ kind: 'sso', issuer: provider.issuer }]);
    expect(await eventsOf(org.slug, 'account.reclaimed')).toMatchObject([
      { subject: { type: 'user', id } },
    ]);
    expect(await Account.findByPk(id)).toMatchObject({ emailProof: 'domain', totpSecret: null });
    // The account is reclaimed only once: the person's own session stays.
    const mine = await signInAt(idctl, provider, domain, sub);
    expect(mine.answer.status).toBe(200);
    expect(await eventsOf(org.slug, 'account.reclaimed')).toHaveLength(1);
    expect((await idctl.client().get('/api/v1/me', bearer(answer.body.accessToken))).status).toBe(
      200,
    );
  });

  test('I3 the stranger’s name is removed too: if the provider gives none, it is the local part of the address', async () => {
    const { domain, open } = await newcomer(provider.issuer);
    const email = `boss@${domain}`;
    const { id } = await stranger(email);
    await open();
    const sub = fresh('sub');
    provider.people.set(sub, { email, email_verified: true });
    const { answer } = await signInAt(idctl, provider, domain, sub);
    expect(answer.body.user).toMatchObject({ id, name: 'boss' });
  });

  test('I3 a login link, a sign-in that waits for its code, and an unfinished connection of Google are cancelled too', async () => {
    const { domain, open } = await newcomer(provider.issuer);
    const email = `ada@${domain}`;
    const { id, accessToken } = await stranger(email);
    const { sid: sessionId = '' } = decodeJwt<{ sid?: string }>(accessToken);
    const { url } = await createLoginLink(idctl.operator(), { user: email });
    const link = byLoginLink.arrivalOf({});
    const { continuation } = await holdForSecondFactor(idctl.operator(), id, link);
    await open();
    expect((await signInAt(idctl, provider, domain, asserted(provider, email))).answer.status).toBe(
      200,
    );
    const anonymous = idctl.as({ kind: 'anonymous' });
    const gone = { code: 'invalid_credential' };
    const token = new URL(url).searchParams.get('token') ?? '';
    await expect(openLoginLink(anonymous, { token })).rejects.toMatchObject(gone);
    const code = {
      totpCode: '000000',
      ...(continuation === undefined ? {} : { pending: continuation }),
    };
    await expect(answerPendingSignIn(anonymous, code)).rejects.toMatchObject(gone);
    // The stranger was signed in when the linking began, and is signed out now.
    const holder = idctl.as({
      kind: 'user',
      accountId: id,
      name: 'Eve',
      via: 'session',
      sessionId,
    });
    const issuer = 'https://accounts.google.com';
    const about = {
      id: 'x',
      issuer,
      clientId: 'c',
      redirectUri: '/',
      returnTo: '/',
      browser: '',
      expires: 0,
    };
    const eve = {
      issuer,
      subject: fresh('sub'),
      email: 'eve@example.test',
      proven: true,
      name: 'Eve',
    };
    const linking = admit(
      holder,
      bySocial.arrivalOf({ state: { ...about, connection: 'google', linkTo: id }, person: eve }),
      { inTwoSteps: true },
    );
    await expect(linking).rejects.toMatchObject(gone);
    expect(await Identity.count({ where: { accountId: id, kind: 'social' } })).toBe(0);
  });

  test.each(['operator', 'mail', 'domain', 'social'] as const)(
    'I3 an address whose proof is %s belongs to its holder: password and sessions stay',
    async (emailProof) => {
      const { domain, open } = await newcomer(provider.issuer);
      const email = `ada@${domain}`;
      const { client, id } = await stranger(email);
      await transaction(() => Account.update({ emailProof }, { where: { id } }));
      await open();
      const { answer } = await signInAt(idctl, provider, domain, asserted(provider, email));
      expect(answer.body.user.id).toBe(id);
      expect((await client.get('/api/v1/me')).status).toBe(200);
      await signedIn(idctl, email);
    },
  );

  test('I3 a sign-in that is not completed reclaims nothing', async () => {
    const { org, domain, open } = await newcomer(provider.issuer);
    const [out, off] = [`out@${domain}`, `off@${domain}`];
    const [gone, disabled] = [await stranger(out), await stranger(off)];
    await addMember(idctl.operator(), { org: org.slug, email: out, role: 'member' });
    await removeMember(idctl.operator(), { org: org.slug, user: out });
    await open();
    await disableUser(idctl.operator(), { user: off });
    for (const email of [out, off]) {
      const { answer } = await signInAt(idctl, provider, domain, asserted(provider, email));
      expect(answer).toMatchObject(refused);
    }
    await enableUser(idctl.operator(), { user: off });
    expect((await gone.client.get('/api/v1/me')).status).toBe(200);
    for (const { id } of [gone, disabled]) {
      expect(await Account.findByPk(id)).toMatchObject({
        emailProof: 'auto',
        passwordHash: expect.any(String),
      });
    }
    expect(await eventsOf(org.slug, 'account.reclaimed')).toEqual([]);
  });

  test('I3 a request of the stranger in progress does not make a token after the reclaim', async () => {
    const { domain, open } = await newcomer(provider.issuer);
    const email = `ada@${domain}`;
    const { accessToken, id } = await stranger(email);
    const late = idctl.as(await authenticate(idctl.as({ kind: 'anonymous' }), accessToken));
    await open();
    await signInAt(idctl, provider, domain, asserted(provider, email));
    await expect(createToken(late, { name: 'late' })).rejects.toMatchObject({
      code: 'invalid_credential',
    });
    expect(await Session.count({ where: { accountId: id, endedAt: null } })).toBe(1);
  });

  test('I3 O2 after the organization verified its domain, no stranger signs up with an address of its domain', async () => {
    const { domain, open } = await newcomer(provider.issuer);
    await open();
    const body = { email: `ada@${domain}`, password, name: 'Mallory' };
    expect(await idctl.client().post('/api/v1/auth/signup', body)).toMatchObject({
      status: 403,
      body: {
        code: 'signup_closed',
        hint: expect.stringContaining('Sign in through your organization'),
      },
      cookies: [],
    });
    expect(await Account.count({ where: { email: body.email } })).toBe(0);
  });
});

describe('I5 a deactivation lasts until it is undone', () => {
  test('I5 a removal by the organization that owns the domain ends all sessions; by another, only those through it', async () => {
    const mine = await connected(idctl, provider.issuer);
    const guest = await organization(idctl);
    const email = `ada@${mine.domain}`;
    const sub = asserted(provider, email);
    const { client } = await signInAt(idctl, provider, mine.domain, sub);
    await addMember(idctl.operator(), { org: guest.slug, email, role: 'member' });
    await removeMember(idctl.operator(), { org: guest.slug, user: email });
    expect((await client.get('/api/v1/me')).status).toBe(200);
    await removeMember(idctl.operator(), { org: mine.org.slug, user: email });
    expect((await client.get('/api/v1/me')).status).toBe(401);
    expect((await signInAt(idctl, provider, mine.domain, sub)).answer).toMatchObject(refused);
    expect(await reasons(mine.org.slug)).toEqual(['deactivated']);
  });

  test.each(['unlink', 'relink'])('I5 no %s lets a removed person back in', async (way) => {
    const { org, domain } = await connected(idctl, provider.issuer);
    const email = `ada@${domain}`;
    const sub = asserted(provider, email);
    await signInAt(idctl, provider, domain, sub);
    await removeMember(idctl.operator(), { org: org.slug, user: email });
    const from = { org: org.slug, fromIssuer: provider.issuer };
    if (way === 'unlink') await unlinkIdentities(idctl.operator(), { user: email });
    else await relinkSso(idctl.operator(), from);
    expect((await signInAt(idctl, provider, domain, sub)).answer).toMatchObject(refused);
    await addMember(idctl.operator(), { org: org.slug, email, role: 'member' });
    expect((await signInAt(idctl, provider, domain, sub)).answer.status).toBe(200);
  });
});

describe('I6 the provider’s `email_verified`', () => {
  test.each([false, 'false', 'FALSE', 'no', 0, ''])(
    'I6 a sign-in with email_verified %j does not reach an existing account',
    async (email_verified) => {
      const { org, domain } = await connected(idctl, provider.issuer);
      const victim = await person(idctl, `ada@${domain}`);
      const sub = fresh('sub');
      // A provider may send any value; the type has only the allowed ones.
      provider.people.set(sub, {
        email: victim.email ?? '',
        email_verified: email_verified as string,
      });
      expect((await signInAt(idctl, provider, domain, sub)).answer).toMatchObject(refused);
      expect(await Identity.count({ where: { accountId: victim.id } })).toBe(0);
      expect(await reasons(org.slug)).toEqual(['email_not_verified']);
    },
  );

  test('I6 an address that Google verified once counts only if an organization manages the account', async () => {
    const { outbound } = idctl.app;
    // The test's provider acts as Google.
    const redeem: typeof outbound.redeem = async (client, response) => ({
      ...(await outbound.redeem(client, response)),
      issuer: 'https://accounts.google.com',
    });
    idctl.app.outbound = { ...outbound, redeem };
    try {
      const { org, domain } = await connected(idctl, provider.issuer);
      const victim = await person(idctl, `ada@${domain}`);
      const comingWith = async (hd: string | undefined, email = victim.email ?? '') => {
        const sub = fresh('sub');
        provider.people.set(sub, {
          email,
          email_verified: true,
          ...(hd === undefined ? {} : { hd }),
        });
        return (await signInAt(idctl, provider, domain, sub)).answer;
      };
      expect(await comingWith(undefined)).toMatchObject(refused);
      expect(await comingWith('')).toMatchObject(refused);
      expect(await Identity.count({ where: { accountId: victim.id } })).toBe(0);
      expect(await reasons(org.slug)).toEqual(['email_not_verified']);
      expect((await comingWith(domain)).body.user.id).toBe(victim.id);
      const lenient = await connected(idctl, provider.issuer, { ignoreEmailVerified: true });
      const sub = fresh('sub');
      provider.people.set(sub, { email: `bob@${lenient.domain}`, email_verified: true });
      expect((await signInAt(idctl, provider, lenient.domain, sub)).answer.status).toBe(200);
    } finally {
      idctl.app.outbound = outbound;
    }
  });
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** The row of a link from the account to another provider. */
function elsewhere(accountId: string) {
  const key = { connectionId: 'social', issuer: 'https://social.test', subject: fresh('s') };
  const row = { id: crypto.randomUUID(), accountId, kind: 'social' as const, organizationId: null };
  return { ...row, ...key, linkedAt: new Date() };
}
