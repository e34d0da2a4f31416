import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { transaction } from '../../src/database/transaction.ts';
import { domainOf } from '../../src/services/foundation/domain-names/canonical.ts';
import { createUser, disableUser, enableUser } from '../../src/services/people/users/operations.ts';
import { type Change, findShutOut } from '../../src/services/signin/shut-out.ts';
import {
  addDomain,
  assertDomain,
  removeDomain,
} from '../../src/services/tenancy/domains/operations.ts';
import { unlinkIdentities } from '../../src/services/tenancy/identities/operations.ts';
import { saveLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { saveLdapInput } from '../../src/services/tenancy/ldap/schema.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { settingNames } from '../../src/services/tenancy/signin-settings/governing.ts';
import {
  changeSignInSettings,
  saveSignInSettings,
} from '../../src/services/tenancy/signin-settings/operations.ts';
import { disableSso, showSso } from '../../src/services/tenancy/sso/operations.ts';
import {
  fresh,
  organization,
  password,
  person,
  signedIn,
  verifiedDomain,
} from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { openInstance } from '../support/instance.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { openSocial, type Social, startAt, withGitHub, withGoogle } from '../support/social.ts';
import { comeBack, connected } from '../support/sso.ts';

type Settings = Record<(typeof settingNames)[number], boolean>;

/** Makes the person known to the provider. Returns a function that signs the person in there. */
function known(social: Social, provider: 'google' | 'github', email: string) {
  const [sub, id] = ['boss', 1];
  social.google.people.set(sub, { email, email_verified: true });
  social.github.people.set(id, {
    login: sub,
    emails: [{ email, primary: true, verified: true }],
  });
  return async (authorizationUrl: string) =>
    provider === 'google'
      ? social.google.signIn(authorizationUrl, sub)
      : social.github.signIn(authorizationUrl, id);
}

const allOn: Settings = {
  password: true,
  passkey: true,
  magicCode: true,
  google: true,
  github: true,
  allowSelfSignup: true,
  restrictOauthToVerifiedDomains: true,
};

describe('O1 O2 every setting, on and off, of two organizations at once', () => {
  let social: Social<MailingIdctl>;
  beforeAll(async () => {
    social = await openSocial(openMailingIdctl, { limits: { enabled: 'off' } });
  });
  afterAll(() => social.close());

  let lastId = 0;
  /** Makes an organization, and a person on its domain who can sign in by every method below. */
  async function company() {
    const org = await organization(social.idctl);
    const domain = await verifiedDomain(social.idctl, org.slug);
    const email = `ada@${domain}`;
    await person(social.idctl, email);
    const [sub, id] = [fresh('sub'), ++lastId];
    social.google.people.set(sub, { email, email_verified: true });
    social.github.people.set(id, {
      login: 'ada',
      emails: [{ email, primary: true, verified: true }],
    });
    const set = (settings: Settings) =>
      saveSignInSettings(social.idctl.operator(), { org: org.slug, ...settings });
    return { set, outcome: () => outcomeOf({ domain, email, sub, id }) };
  }

  async function outcomeOf(who: { domain: string; email: string; sub: string; id: number }) {
    const client = social.idctl.client();
    const { email } = who;
    await client.post('/api/v1/auth/magic-code', { email });
    const code = await social.idctl.codeFor(email);
    const newcomer = { email: `${fresh('new')}@${who.domain}`, password, name: 'New' };
    const answers = {
      password: await client.post('/api/v1/auth/login', { email, password }),
      magicCode: await client.post('/api/v1/auth/magic-code/verify', { email, code }),
      google: (await withGoogle(social, who.sub)).answer,
      github: (await withGitHub(social, who.id)).answer,
      allowSelfSignup: await client.post('/api/v1/auth/signup', newcomer),
    };
    const offered = (await client.get(`/api/v1/auth/methods?identifier=${email}`)).body.methods;
    return {
      ...Object.fromEntries(
        Object.entries(answers).map(([way, { status, body }]) => [
          way,
          body.code ?? (status < 300 ? 'in' : status),
        ]),
      ),
      refusedWith: Object.values(answers).flatMap(({ body }) =>
        body.methods ? [body.methods] : [],
      ),
      offered,
    };
  }

  /** The expected outcomes of these settings. All addresses here are on verified domains. */
  function expected(settings: Settings) {
    // Passkeys are left out: they have their own tests.
    const ways = ['password', 'magicCode', 'google', 'github'] as const;
    const all = ['password', 'passkey', 'magicCode', 'google', 'github'] as const;
    const offered = all.filter((way) => settings[way]);
    return {
      ...Object.fromEntries(ways.map((way) => [way, settings[way] ? 'in' : 'signin_method_off'])),
      allowSelfSignup: settings.allowSelfSignup ? 'in' : 'signup_closed',
      refusedWith: ways.filter((way) => !settings[way]).map(() => offered),
      offered,
    };
  }

  test.each(settingNames)('O1 O2 %s applies to its own organization only', async (name) => {
    const [one, other] = [await company(), await company()];
    for (const on of [true, false]) {
      const [ones, others] = [
        { ...allOn, [name]: on },
        { ...allOn, [name]: !on },
      ];
      await one.set(ones);
      await other.set(others);
      expect(await one.outcome()).toEqual(expected(ones));
      expect(await other.outcome()).toEqual(expected(others));
    }
  });

  test('X5 O1 a sign-in by each disabled method is recorded as an event', async () => {
    const events = await Event.findAll({ where: { kind: 'signin.refused' } });
    const off = events.filter(({ data }) => data['reason'] === 'method_off');
    const methods = new Set(off.map(({ data }) => data['method']));
    expect([...methods].toSorted()).toEqual(['github', 'google', 'magicCode', 'password']);
  });
});

const login = (instance: Idctl, email: string | null) =>
  instance
    .client()
    .post('/api/v1/auth/login', { email, password })
    .then(({ status }) => status);
const set = (instance: Idctl, org: string, settings: Partial<Settings>) =>
  changeSignInSettings(instance.operator(), { org, ...settings });

/** Makes an organization whose owner can sign in by SSO, so that every setting can be off. */
async function withSso(instance: Idctl) {
  const { org, domain } = await connected(instance, 'https://idp.acme.test');
  const boss = await person(instance, `boss@${domain}`);
  await addMember(instance.operator(), { org: org.slug, email: boss.email ?? '', role: 'owner' });
  return { org: org.slug, domain, boss };
}

test('O1 a person’s sign-in settings come from the organization that verified the domain, else the only organization, else the instance, never from a membership', async () => {
  const instance = await openInstance();
  const { org } = await withSso(instance);
  const ada = await person(instance);
  await set(instance, org, { password: false });
  expect(await login(instance, ada.email)).toBe(403);
  const second = await organization(instance);
  expect(await login(instance, ada.email)).toBe(200);
  await addMember(instance.operator(), { org, email: ada.email ?? '', role: 'member' });
  expect(await login(instance, ada.email)).toBe(200);
  await set(instance, second.slug, { password: true });
  await verifiedDomain(instance, org, 'example.test');
  expect(await login(instance, ada.email)).toBe(403);
});

test('O1 if anyone can make organizations, each governs only its verified domains, so a new one does not change an outcome', async () => {
  const instance = await openInstance({ orgs: { creation: 'anyone' } });
  const { org, domain } = await withSso(instance);
  const ada = await person(instance);
  const [bob, eve] = [await signedIn(instance, ada.email), await person(instance, `eve@${domain}`)];
  await set(instance, org, { password: false, allowSelfSignup: true });
  const signUp = { email: `${fresh('x')}@new.test`, password, name: 'X' };
  const outcomes = async () => [
    await login(instance, ada.email),
    await login(instance, eve.email),
    (await instance.client().post('/api/v1/auth/signup', signUp)).status,
  ];
  // Even the only organization does not govern an address on another domain.
  const before = await outcomes();
  expect(before).toEqual([200, 403, 403]);
  expect((await bob.post('/api/v1/orgs', { name: 'Second' })).status).toBe(201);
  expect(await outcomes()).toEqual(before);
});

test('O1 a disabled method is refused with an event, and the refusal does not count towards the lockout', async () => {
  const instance = await openInstance({ limits: { accountFailures: 2 } });
  const { org, domain } = await withSso(instance);
  const { email, id } = await person(instance, `ada@${domain}`);
  await set(instance, org, { password: false });
  for (let time = 0; time < 5; time += 1) expect(await login(instance, email)).toBe(403);
  const events = await Event.findAll({ where: { kind: 'signin.refused' } });
  expect(events.map(({ subject, data }) => [subject?.id, data['reason']])).toContainEqual([
    id,
    'method_off',
  ]);
});

describe('O2 restricting to verified domains', () => {
  test('O2 refuses every social sign-in if no domain is verified, and otherwise those from other domains', async () => {
    const social = await openSocial(openIdctl);
    onTestFinished(() => social.close());
    const org = await organization(social.idctl);
    await set(social.idctl, org.slug, { restrictOauthToVerifiedDomains: true });
    const someone = (domain: string) => {
      const sub = fresh('sub');
      social.google.people.set(sub, { email: `${sub}@${domain}`, email_verified: true });
      return withGoogle(social, sub).then(({ answer }) => answer.body.code ?? answer.status);
    };
    expect(await someone('acme.test')).toBe('signin_method_off');
    await verifiedDomain(social.idctl, org.slug, 'acme.test');
    expect(await someone('acme.test')).toBe(200);
    expect(await someone('elsewhere.test')).toBe('signin_method_off');
  });

  test('O2 O5 refuses an account with a private address that was linked before, and does not link a new one', async () => {
    const social = await openSocial(openIdctl);
    onTestFinished(() => social.close());
    const { idctl, google, github } = social;
    const [org, other] = [await organization(idctl), await organization(idctl)];
    const [own, second] = [
      await verifiedDomain(idctl, org.slug),
      await verifiedDomain(idctl, org.slug),
    ];
    const foreign = await verifiedDomain(idctl, other.slug);
    const ada = await person(idctl, `ada@${own}`);
    google.people.set('ada', { email: 'ada.private@gmail.com', email_verified: true });
    const bind = async () => {
      const client = await signedIn(idctl, ada.email);
      const { body } = await client.post('/api/v1/me/social/google');
      return comeBack(client, await google.signIn(body.authorizationUrl, 'ada'));
    };
    expect(await bind()).toMatchObject({ status: 200 });
    expect((await withGoogle(social, 'ada')).answer).toMatchObject({
      status: 200,
      body: { user: { id: ada.id } },
    });
    await set(idctl, org.slug, { restrictOauthToVerifiedDomains: true });
    const off = {
      status: 403,
      body: { code: 'signin_method_off', methods: ['password', 'passkey', 'google', 'github'] },
      cookies: [],
    };
    expect((await withGoogle(social, 'ada')).answer).toMatchObject(off);
    // The account's current address counts: it must be on a domain of the same organization.
    const comingAs = async (email: string) => {
      google.people.set('ada', { email, email_verified: true });
      return (await withGoogle(social, 'ada')).answer.status;
    };
    expect(await comingAs(`ada@${second}`)).toBe(200);
    expect(await comingAs(`ada@${foreign}`)).toBe(403);
    // The same rule applies to GitHub.
    github.people.set(9, {
      login: 'ada',
      emails: [{ email: `ada@${own}`, primary: true, verified: true }],
    });
    expect((await withGitHub(social, 9)).answer.status).toBe(200);
    github.people.set(9, {
      login: 'ada',
      emails: [{ email: 'ada@private.test', primary: true, verified: true }],
    });
    expect((await withGitHub(social, 9)).answer).toMatchObject(off);
    // A Google account that may not sign in cannot be linked either.
    await unlinkIdentities(idctl.operator(), { user: ada.id });
    expect(await bind()).toMatchObject({ status: 403, cookies: [] });
    expect(await Identity.count({ where: { accountId: ada.id } })).toBe(0);
  });
});

describe('O3 no change of settings locks every owner out', () => {
  const lockedOut = { code: 'owners_locked_out' };

  test('O3 the last way in of the last owner cannot be switched off, and the refusal names the owner', async () => {
    const instance = await openInstance();
    const org = await organization(instance);
    const off = set(instance, org.slug, { password: false });
    await expect(off).rejects.toMatchObject({
      ...lockedOut,
      message: expect.stringContaining(org.owner.email ?? 'nobody'),
    });
    expect(await login(instance, org.owner.email)).toBe(200);
    // One owner with a way in is enough.
    const waiting = `${fresh('new')}@example.test`;
    await createUser(instance.operator(), { email: waiting, name: 'Without a password' });
    await addMember(instance.operator(), { org: org.slug, email: waiting, role: 'owner' });
    await set(instance, org.slug, { github: false });
    await disableUser(instance.operator(), { user: org.owner.id });
    // A change that does not remove a way in is allowed.
    await set(instance, org.slug, { github: true, magicCode: true });
    await expect(set(instance, org.slug, { password: false })).rejects.toMatchObject(lockedOut);
  });

  test('O3 a domain is not verified while the settings would then lock every owner out', async () => {
    const instance = await openInstance();
    const [org] = [await organization(instance), await organization(instance)];
    const domain = domainOf(org.owner.email ?? '');
    const here = { org: org.slug, domain };
    await addDomain(instance.operator(), here);
    // The settings do not govern the owner yet.
    await set(instance, org.slug, { password: false });
    const verifying = assertDomain(instance.operator(), here);
    await expect(verifying).rejects.toMatchObject({
      ...lockedOut,
      message: expect.stringContaining(`${org.owner.email}`),
      hint: expect.stringContaining('First allow another way in the sign-in settings.'),
    });
    expect(await login(instance, org.owner.email)).toBe(200);
    await set(instance, org.slug, { password: true });
    expect(await assertDomain(instance.operator(), here)).toMatchObject({ state: 'Verified' });
    expect(await login(instance, org.owner.email)).toBe(200);
  });

  test('O15 a change looks at a hundred owners, however many there are', async () => {
    const instance = await openInstance();
    const org = await organization(instance);
    const waiting = async (at: number) => {
      const email = `${fresh('new')}@example.test`;
      await createUser(instance.operator(), { email, name: `Without a password ${at}` });
      await addMember(instance.operator(), { org: org.slug, email, role: 'owner' });
    };
    for (const at of Array(99).keys()) await waiting(at);
    const last = await person(instance);
    await addMember(instance.operator(), { org: org.slug, email: last.email ?? '', role: 'owner' });
    await disableUser(instance.operator(), { user: org.owner.id });
    // The hundredth owner can sign in with the password.
    await set(instance, org.slug, { github: false });
    await set(instance, org.slug, { github: true });
    await enableUser(instance.operator(), { user: org.owner.id });
    await transaction(() =>
      Account.update({ passwordHash: null }, { where: { id: org.owner.id } }),
    );
    await expect(set(instance, org.slug, { github: false })).rejects.toMatchObject(lockedOut);
  });

  test('O3 settings that do not govern an owner do not affect that owner', async () => {
    const instance = await openInstance();
    const [org] = [await organization(instance), await organization(instance)];
    await set(instance, org.slug, { password: false });
    expect(await login(instance, org.owner.email)).toBe(200);
  });

  test('O3 single sign-on or LDAP counts as a way for an owner to sign in only while it is enabled for the domain of the owner’s address', async () => {
    const instance = await openInstance();
    const { org, domain } = await withSso(instance);
    await set(instance, org, { password: false });
    await set(instance, org, { password: true });
    await disableSso(instance.operator(), { org });
    await expect(set(instance, org, { password: false })).rejects.toMatchObject(lockedOut);
    const directory = {
      uri: 'ldaps://ldap.acme.test',
      bindDn: 'cn=x',
      bindPassword: 's',
      searchBase: 'dc=x',
    };
    const filter = { searchFilter: '(uid={username})', emailAttribute: 'mail', enabled: true };
    await saveLdap(instance.operator(), saveLdapInput.parse({ org, ...directory, ...filter }));
    await set(instance, org, { password: false });
    await set(instance, org, { password: true });
    await removeDomain(instance.operator(), { org, domain });
    await expect(set(instance, org, { password: false })).rejects.toMatchObject(lockedOut);
  });

  test('O3 the rehearsal of a change that removes the last way in names the owners it locks out, and changes nothing', async () => {
    const instance = await openInstance();
    const { org, domain, boss } = await withSso(instance);
    const told = (change: Change) => findShutOut(instance.operator(), { org, change, domain });
    const everyone = expect.arrayContaining([boss.email]);
    expect(await told('sso.disable')).toMatchObject({ owners: [] });
    await set(instance, org, { password: false });
    expect(await told('sso.disable')).toMatchObject({ slug: org, owners: everyone });
    expect(await told('sso.remove')).toMatchObject({ owners: everyone });
    expect(await told('domain.remove')).toMatchObject({ owners: everyone });
    expect((await showSso(instance.operator(), { org })).enabled).toBe(true);
  });

  test('O3 if the instance sends mail, a mailed code counts as a way in', async () => {
    const instance = await openInstance({ mail: { smtpUrl: 'smtp://127.0.0.1:9' } });
    const org = await organization(instance);
    await set(instance, org.slug, { password: false, magicCode: true });
    await expect(set(instance, org.slug, { magicCode: false })).rejects.toMatchObject(lockedOut);
    await set(instance, org.slug, { magicCode: false, password: true });
  });

  test.each([
    ['Google', 'google', 'github'],
    ['GitHub', 'github', 'google'],
  ] as const)(
    'O3 %s counts as a way in once an owner has signed in with it',
    async (_, own, other) => {
      const social = await openSocial(openIdctl);
      onTestFinished(() => social.close());
      const org = await organization(social.idctl);
      await expect(set(social.idctl, org.slug, { password: false })).rejects.toMatchObject(
        lockedOut,
      );
      const arrive = known(social, own, org.owner.email ?? '');
      const browser = social.idctl.client({ keepCookies: true });
      await comeBack(browser, await arrive(await startAt(browser, own)));
      await set(social.idctl, org.slug, { password: false, [other]: false });
      for (const last of [{ [own]: false }, { restrictOauthToVerifiedDomains: true }]) {
        await expect(set(social.idctl, org.slug, last)).rejects.toMatchObject(lockedOut);
      }
    },
  );
});

test.each([
  ['Google', 'google'],
  ['GitHub', 'github'],
] as const)(
  'O3 if social sign-in is restricted to verified domains, an account at %s with a private address does not count, so an admin cannot lock out its owner',
  async (_, own) => {
    const social = await openSocial(openIdctl);
    onTestFinished(() => social.close());
    const { idctl } = social;
    const org = await organization(idctl);
    const domain = await verifiedDomain(idctl, org.slug);
    const [boss, admin] = [
      await person(idctl, `boss@${domain}`),
      await person(idctl, `admin@${domain}`),
    ];
    await addMember(idctl.operator(), { org: org.slug, email: boss.email ?? '', role: 'owner' });
    await addMember(idctl.operator(), { org: org.slug, email: admin.email ?? '', role: 'admin' });
    await disableUser(idctl.operator(), { user: org.owner.id });
    const arrive = known(social, own, 'private@elsewhere.test');
    const client = await signedIn(idctl, boss.email);
    const { body } = await client.post(`/api/v1/me/social/${own}`);
    await comeBack(client, await arrive(body.authorizationUrl));

    const mallory = await signedIn(idctl, admin.email);
    const save = (change: Partial<Settings>) =>
      mallory.send('PUT', `/api/v1/orgs/${org.slug}/signin-settings`, {
        body: { ...allOn, magicCode: false, ...change },
      });
    const refused = { status: 409, body: { code: 'owners_locked_out' } };
    expect(await save({ password: false })).toMatchObject({
      ...refused,
      body: { detail: expect.stringContaining(boss.email ?? 'nobody') },
    });
    // The admin cannot do it in two steps either.
    expect((await save({})).status).toBe(200);
    expect(await save({ password: false })).toMatchObject(refused);
    expect(await login(idctl, boss.email)).toBe(200);
    expect((await save({ password: false, restrictOauthToVerifiedDomains: false })).status).toBe(
      200,
    );
    expect(await save({ password: false })).toMatchObject(refused);
    const browser = idctl.client({ keepCookies: true });
    const back = await comeBack(browser, await arrive(await startAt(browser, own)));
    expect(back.status).toBe(200);
  },
);

describe('GET /auth/methods', () => {
  const methodsOf = (instance: Idctl, identifier: string) =>
    instance
      .client()
      .get(`/api/v1/auth/methods?${new URLSearchParams({ identifier })}`)
      .then(({ body }) => body);

  test('P7 answers the same for a known and an unknown address, and for the domain alone', async () => {
    const instance = await openInstance();
    const { domain, boss } = await withSso(instance);
    const startUrl = `${instance.baseUrl}/auth/sso/start?domain=${domain}`;
    const answer = { methods: ['password', 'sso'], sso: { startUrl } };
    for (const identifier of [boss.email ?? '', `nobody@${domain}`, domain.toUpperCase()]) {
      expect(await methodsOf(instance, identifier)).toEqual(answer);
    }
    expect(await methodsOf(instance, 'elsewhere.test')).toEqual({ methods: ['password'] });
    expect(await methodsOf(instance, 'not a domain')).toMatchObject({ code: 'invalid_input' });
  });

  test('offers the directory of the domain’s organization, and configured mail and social providers', async () => {
    const social = await openSocial(openMailingIdctl);
    onTestFinished(() => social.close());
    const { org, domain } = await withSso(social.idctl);
    await organization(social.idctl);
    const directory = {
      uri: 'ldaps://ldap.acme.test',
      bindDn: 'cn=x',
      bindPassword: 's',
      searchBase: 'dc=x',
    };
    const filter = { searchFilter: '(uid={username})', emailAttribute: 'mail', enabled: true };
    await saveLdap(social.idctl.operator(), saveLdapInput.parse({ org, ...directory, ...filter }));
    await set(social.idctl, org, { magicCode: true });
    expect((await methodsOf(social.idctl, domain)).methods).toEqual([
      'password',
      'passkey',
      'magicCode',
      'sso',
      'ldap',
      'google',
      'github',
    ]);
    // The organization's settings and directory do not apply to other domains (security L1).
    expect((await methodsOf(social.idctl, 'else.test')).methods).toEqual([
      'password',
      'passkey',
      'google',
      'github',
    ]);
  });
});
