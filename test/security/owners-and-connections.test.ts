import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { Session } from '../../src/database/models/session.ts';
import { transaction } from '../../src/database/transaction.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { fresh, organization, person, signedIn, verifiedDomain } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { apply } from '../support/documents.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { settingsFor, signInByLdap } from '../support/ldap.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { type Slapd, startSlapd } from '../support/slapd.ts';
import { registration, signInAt } from '../support/sso.ts';
import { tokenOf } from '../support/tokens.ts';
import { enrolOwn } from '../support/two-factor.ts';

// The attacker is an admin of the organization who wants the session of an owner, and who controls
// a provider and a directory that say what he likes.

let idctl: Idctl;
/** The organization's provider, and that of the attacker. */
let provider: OpenIdProvider;
let evil: OpenIdProvider;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const own = `${idctl.baseUrl}/auth/sso/callback`;
  const redirect_uris = [own, own.replace('127.0.0.1', 'localhost')];
  const clients = ['idctl', 'another'].map((id) => ({
    client_id: id === 'idctl' ? client_id : id,
    client_secret,
    redirect_uris,
  }));
  provider = await startOpenIdProvider({ clients });
  evil = await startOpenIdProvider({ clients });
});
afterAll(async () => {
  await evil?.stop();
  await provider?.stop();
  await idctl.close();
});

const refused = { status: 401, body: { code: 'signin_failed' }, cookies: [] };
const asked = { status: 401, body: { code: 'second_factor_required' } };

type Settings = Record<string, unknown>;

/**
 * Creates an organization whose owner's address is on its domain, with an admin, and a connection
 * to the organization's provider that the owner saved.
 */
async function attacked(more: Settings = {}) {
  const { slug: org } = await organization(idctl);
  const domain = await verifiedDomain(idctl, org);
  const olga = await person(idctl, `${fresh('olga')}@${domain}`);
  const mallory = await person(idctl, `${fresh('mallory')}@${domain}`);
  await addMember(idctl.operator(), { org, email: olga.email ?? '', role: 'owner' });
  await addMember(idctl.operator(), { org, email: mallory.email ?? '', role: 'admin' });
  const settings = { emailDomain: domain, issuer: provider.issuer, ...registration, enabled: true };
  const path = `/api/v1/orgs/${org}/sso`;
  const by = {
    owner: await signedIn(idctl, olga.email),
    admin: await signedIn(idctl, mallory.email),
  };
  const saved = await by.owner.send('PUT', path, { body: { ...settings, ...more } });
  expect(saved).toMatchObject({ status: 200, body: { approved: true } });
  return { org, domain, olga, mallory, settings: { ...settings, ...more }, path, ...by };
}

type Attacked = Awaited<ReturnType<typeof attacked>>;

/** Signs in as a person of this address; the provider says that it is verified. */
async function signInAs(at: OpenIdProvider, domain: string, email: string | null, claims = {}) {
  const sub = fresh('sub');
  at.people.set(sub, { email: email ?? '', email_verified: true, name: 'Olga', ...claims });
  return (await signInAt(idctl, at, domain, sub)).answer;
}

async function eventsOf(org: string, kind: string) {
  return (await listEvents(idctl.operator(), { org, kind, limit: 50 })).items;
}

/** Checks that the connection does not sign the owner in, and links nothing to the account. */
async function expectOwnerRefused(
  { org, domain, olga }: Attacked,
  at: OpenIdProvider,
  claims = {},
): Promise<void> {
  const before = await Session.count({ where: { accountId: olga.id } });
  expect(await signInAs(at, domain, olga.email, claims)).toMatchObject(refused);
  expect(await Session.count({ where: { accountId: olga.id } })).toBe(before);
  expect(await Identity.count({ where: { accountId: olga.id } })).toBe(0);
  expect(await eventsOf(org, 'sso.owner.refused')).toMatchObject([
    { data: { reason: 'owner_not_approved' }, subject: { type: 'sso' } },
  ]);
}

const unprove = ({ id }: { id: string }) =>
  transaction(() => Account.update({ emailProof: 'auto' }, { where: { id } }));

const atEvil = (settings: Settings) => ({ ...settings, issuer: evil.issuer });

describe('I8 an admin points single sign-on at a provider of his own', () => {
  test.each(['without', 'with'])('I8 the owner %s a second factor is refused', async (factor) => {
    const site = await attacked();
    if (factor === 'with') await enrolOwn(idctl, site.olga);
    const saved = await site.admin.send('PUT', site.path, { body: atEvil(site.settings) });
    expect(saved).toMatchObject({ status: 200, body: { approved: false } });
    await expectOwnerRefused(site, evil);
  });

  test('I8 a plain member who owns another organization is refused', async () => {
    const site = await attacked();
    const member = await person(idctl, `${fresh('anna')}@${site.domain}`);
    await addMember(idctl.operator(), { org: site.org, email: member.email ?? '', role: 'member' });
    const elsewhere = await organization(idctl);
    const role = 'owner' as const;
    await addMember(idctl.operator(), { org: elsewhere.slug, email: member.email ?? '', role });
    await site.admin.send('PUT', site.path, { body: atEvil(site.settings) });
    await expectOwnerRefused({ ...site, olga: member }, evil);
  });

  test('I8 an owner who had signed in through the connection is refused by the known identity', async () => {
    const site = await attacked();
    const claims = { email: site.olga.email ?? '', email_verified: true, name: 'Olga' };
    const sub = fresh('sub');
    for (const at of [provider, evil]) at.people.set(sub, claims);
    expect((await signInAt(idctl, provider, site.domain, sub)).answer.status).toBe(200);
    const { body } = await site.admin.send('PATCH', site.path, { body: { groupsClaim: 'roles' } });
    expect(body.approved).toBe(true);
    expect((await signInAt(idctl, provider, site.domain, sub)).answer.status).toBe(200);
    await site.admin.send('PATCH', site.path, { body: { ignoreEmailVerified: true } });
    expect((await signInAt(idctl, provider, site.domain, sub)).answer).toMatchObject(refused);
  });

  test('I8 every other account signs in, but one with a second factor of its own is asked for it', async () => {
    const site = await attacked();
    await site.admin.send('PUT', site.path, { body: atEvil(site.settings) });
    const plain = `${fresh('new')}@${site.domain}`;
    expect((await signInAs(evil, site.domain, plain)).status).toBe(200);
    const careful = await person(idctl, `${fresh('carl')}@${site.domain}`);
    await enrolOwn(idctl, careful);
    expect(await signInAs(evil, site.domain, careful.email)).toMatchObject(asked);
    const unproved = await person(idctl, `${fresh('uma')}@${site.domain}`);
    await enrolOwn(idctl, unproved);
    await unprove(unproved);
    expect(await signInAs(evil, site.domain, unproved.email)).toMatchObject(asked);
    const { body } = await site.owner.send('PUT', site.path, { body: atEvil(site.settings) });
    expect(body.approved).toBe(true);
    expect((await signInAs(evil, site.domain, careful.email)).status).toBe(200);
  });
});

describe('I8 every road to another word', () => {
  const roads: [string, (site: Attacked) => Promise<{ at: OpenIdProvider; claims?: Settings }>][] =
    [
      [
        'PATCH of the issuer',
        async ({ path, admin }) => {
          const { clientSecret } = registration;
          await admin.send('PATCH', path, { body: { issuer: evil.issuer, clientSecret } });
          return { at: evil };
        },
      ],
      [
        'another client',
        async ({ path, admin }) => {
          const { clientSecret } = registration;
          await admin.send('PATCH', path, { body: { clientId: 'another', clientSecret } });
          return { at: provider };
        },
      ],
      [
        'another redirect URI',
        async ({ path, admin }) => {
          const redirectUri = `${idctl.baseUrl.replace('127.0.0.1', 'localhost')}/auth/sso/callback`;
          await admin.send('PATCH', path, { body: { redirectUri } });
          return { at: provider };
        },
      ],
      [
        'ignoreEmailVerified on',
        async ({ path, admin }) => {
          await admin.send('PATCH', path, { body: { ignoreEmailVerified: true } });
          return { at: provider, claims: { email_verified: false } };
        },
      ],
      [
        'requireLocalTwoFactor off',
        async ({ path, owner, admin }) => {
          await owner.send('PATCH', path, { body: { requireLocalTwoFactor: true } });
          await admin.send('PATCH', path, { body: { requireLocalTwoFactor: false } });
          return { at: provider };
        },
      ],
      [
        'off by an owner and on',
        async ({ path, owner, admin }) => {
          await owner.post(`${path}/disable`);
          await admin.post(`${path}/enable`);
          return { at: provider };
        },
      ],
      [
        'removed and made again',
        async ({ path, admin, settings }) => {
          await admin.send('DELETE', path);
          await admin.send('PUT', path, { body: settings });
          return { at: provider };
        },
      ],
      [
        'a token of scope admin, even of an owner',
        async ({ path, owner, settings }) => {
          const user = (await owner.get('/api/v1/me')).body.id;
          const { token } = await tokenOf(idctl, { user, scope: 'admin' });
          const headers = { authorization: `Bearer ${token}` };
          await idctl.client().send('PUT', path, { body: atEvil(settings), headers });
          return { at: evil };
        },
      ],
      [
        'a document',
        async ({ org, mallory, settings: { clientSecret, ...settings } }) => {
          const proof = { via: 'session', sessionId: mallory.id } as const;
          const admin = idctl.as({ kind: 'user', accountId: mallory.id, name: 'M', ...proof });
          const sso = { ...atEvil(settings), clientSecret: { value: clientSecret } };
          await apply(admin, org, { idctl: 1, sso });
          return { at: evil };
        },
      ],
      [
        'a domain that moved away and back',
        async ({ org, domain, path, owner, admin }) => {
          const other = await organization(idctl);
          await owner.send('DELETE', `/api/v1/orgs/${org}/domains/${domain}`);
          await verifiedDomain(idctl, other.slug, domain);
          const client = await signedIn(idctl, other.owner.email);
          await client.send('DELETE', `/api/v1/orgs/${other.slug}/domains/${domain}`);
          await verifiedDomain(idctl, org, domain);
          await admin.send('PATCH', path, { body: { emailDomain: domain } });
          await admin.post(`${path}/enable`);
          return { at: provider };
        },
      ],
    ];

  test.each(roads)('I8 %s: the owner is refused', async (_, take) => {
    const site = await attacked();
    const taken = await take(site);
    expect((await site.admin.get(site.path)).body).toMatchObject({
      enabled: true,
      approved: false,
    });
    await expectOwnerRefused(site, taken.at, taken.claims);
  });
});

describe('I8 approved or not, owners are asked for their own second factor', () => {
  test('I8 an owner with a second factor is asked for it by an approved connection, others are not', async () => {
    const site = await attacked();
    const code = await enrolOwn(idctl, site.olga);
    const sub = fresh('sub');
    provider.people.set(sub, { email: site.olga.email ?? '', email_verified: true, name: 'Olga' });
    const { client, answer } = await signInAt(idctl, provider, site.domain, sub);
    expect(answer).toMatchObject(asked);
    const done = await client.post('/api/v1/auth/second-factor', { totpCode: code() });
    expect(done.status).toBe(200);
    const member = await person(idctl, `${fresh('anna')}@${site.domain}`);
    await enrolOwn(idctl, member);
    expect((await signInAs(provider, site.domain, member.email)).status).toBe(200);
  });

  test('I8 I3 the owner’s second factor outlives the first sign-in onto an address that was never proved', async () => {
    const site = await attacked();
    const code = await enrolOwn(idctl, site.olga);
    // The owner signed up when the instance sent no mail.
    await unprove(site.olga);
    const sub = fresh('sub');
    provider.people.set(sub, { email: site.olga.email ?? '', email_verified: true, name: 'Olga' });
    const { client, answer } = await signInAt(idctl, provider, site.domain, sub);
    expect(answer).toMatchObject(asked);
    const done = await client.post('/api/v1/auth/second-factor', { totpCode: code() });
    expect(done).toMatchObject({ status: 200, body: { user: { twoFactorEnabled: true } } });
    // What else an earlier holder may have left has ended.
    expect((await site.owner.get('/api/v1/me')).status).toBe(401);
    const member = await person(idctl, `${fresh('anna')}@${site.domain}`);
    await enrolOwn(idctl, member);
    await unprove(member);
    expect((await signInAs(provider, site.domain, member.email)).status).toBe(200);
  });
});

describe.skipIf(counterpartMissing('slapd'))(
  'I8 an admin points LDAP at a directory of his own',
  () => {
    let slapd: Slapd;
    beforeAll(async () => {
      slapd = await startSlapd();
    });
    afterAll(() => slapd?.stop());

    /** Makes the directory say that this user has the address. */
    async function entryFor(email: string | null): Promise<string> {
      const username = fresh('u');
      await slapd.person(username, { mail: email ?? '' });
      return username;
    }

    const save = (by: Client, org: string) =>
      by.send('PUT', `/api/v1/orgs/${org}/ldap`, {
        body: { ...settingsFor(slapd), enabled: true },
      });

    test('I8 an owner who holds an identity of single sign-on is refused, with an event, and nothing is linked', async () => {
      const site = await attacked();
      expect((await signInAs(provider, site.domain, site.olga.email)).status).toBe(200);
      expect((await save(site.admin, site.org)).body).toMatchObject({ approved: false });
      const username = await entryFor(site.olga.email);
      const by = { username, org: site.org };
      expect(await signInByLdap(idctl, by)).toMatchObject({
        ...refused,
        body: { code: 'signin_failed' },
      });
      expect(await Identity.count({ where: { accountId: site.olga.id, kind: 'ldap' } })).toBe(0);
      expect(await eventsOf(site.org, 'ldap.owner.refused')).toMatchObject([
        { data: { reason: 'owner_not_approved' }, subject: { type: 'ldap' } },
      ]);
      const other = await entryFor(`${fresh('new')}@${site.domain}`);
      expect((await signInByLdap(idctl, { username: other, org: site.org })).status).toBe(200);
      expect((await save(site.owner, site.org)).body).toMatchObject({ approved: true });
      expect((await signInByLdap(idctl, by)).status).toBe(200);
    });

    test('I8 a refused owner gets the same answer as a person with a wrong password', async () => {
      const site = await attacked();
      await save(site.admin, site.org);
      const username = await entryFor(site.olga.email);
      const by = { username, org: site.org };
      const { requestId: _, ...owner } = (await signInByLdap(idctl, by)).body;
      const wrong = (await signInByLdap(idctl, { ...by, password: 'wrong' })).body;
      expect(owner).toEqual({ ...wrong, requestId: undefined });
    });

    test('I8 an owner with a second factor is asked for it by an approved directory', async () => {
      const site = await attacked();
      const code = await enrolOwn(idctl, site.olga);
      await save(site.owner, site.org);
      const username = await entryFor(site.olga.email);
      const by = { username, org: site.org };
      await unprove(site.olga);
      expect(await signInByLdap(idctl, by)).toMatchObject(asked);
      expect((await signInByLdap(idctl, { ...by, totpCode: code() })).status).toBe(200);
    });
  },
);
