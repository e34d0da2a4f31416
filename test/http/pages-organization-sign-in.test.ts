import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { disableUser } from '../../src/services/people/users/operations.ts';
import { addDomain, verifyDomain } from '../../src/services/tenancy/domains/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { person, signedIn, verifiedDomain } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { settingsFor } from '../support/ldap.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { open } from '../support/pages.ts';
import { type Slapd, startSlapd } from '../support/slapd.ts';
import { connected, registration, signInAt } from '../support/sso.ts';
import { team } from '../support/team.ts';

// The pages on which an organization connects its domains, its provider and its directory.

let idctl: Idctl;
let provider: OpenIdProvider;
beforeAll(async () => {
  idctl = await openIdctl({
    limits: { enabled: 'off' },
    outbound: { allow: ['127.0.0.1'] },
    doh: { resolverUrl: 'https://127.0.0.1:9/dns-query' },
  });
  provider = await startOpenIdProvider({
    clients: [
      {
        client_id: registration.clientId,
        client_secret: registration.clientSecret,
        redirect_uris: [`${idctl.baseUrl}/auth/sso/callback`],
      },
    ],
  });
});
afterAll(async () => {
  await provider?.stop();
  await idctl?.close();
});

const of = ({ slug }: { slug: string }) => `/orgs/${slug}/sign-in`;
const shared = { provider: 'other', ...registration };

describe('the page about sign-in', () => {
  test('X10 only admins and owners open it; strangers get 404', async () => {
    const { org, clients } = await team(idctl);
    for (const part of [
      ...['', '/sso', '/sso/set', '/sso/saml', '/sso/disable'],
      ...['/ldap', '/ldap/set'],
    ]) {
      const path = `${of(org)}${part}`;
      expect([path, (await open(clients.member, path)).status]).toEqual([path, 403]);
      expect([path, (await open(clients.stranger, path)).status]).toEqual([path, 404]);
    }
    expect((await open(clients.member, `/orgs/${org.slug}`)).body).not.toContain(of(org));
    expect((await open(clients.admin, `/orgs/${org.slug}`)).body).toContain(of(org));
  });

  test('adds a domain, shows its record, says why a check failed, and removes it', async () => {
    const { org, clients } = await team(idctl);
    const page = await open(clients.admin, of(org));
    const domain = `${org.slug}.example`;
    const added = await page.submit(`${of(org)}/domains`, { domain });
    expect(added.text).toContain('The domain was added.');
    expect(added.text).toMatch(/svc-verify=[\w-]{22}/);
    const checked = await added.submit(`${of(org)}/domains/${domain}/verify`);
    expect(checked.body).toContain('role="alert"');
    expect(checked.status).toBe(502);
    // Only the operator learns which resolver failed.
    expect(checked.text).toContain(
      'The DNS could not be asked. Try again in a few minutes. If it happens again, tell the operator of this instance.',
    );
    expect(checked.text).not.toMatch(/resolver/i);
    await expect(verifyDomain(idctl.operator(), { org: org.slug, domain })).rejects.toThrow(
      'The resolver ',
    );
    // A reload of the refused form opens the page.
    expect((await open(clients.admin, `${of(org)}/domains/${domain}/verify`)).status).toBe(200);
    const asks = await open(clients.admin, `${of(org)}/domains/${domain}/remove`);
    expect(asks.text).toContain(`Give ${domain} up?`);
    const removed = await asks.submit(`${of(org)}/domains/${domain}/remove`);
    expect(removed.text).toContain('The domain was removed.');
    const refused = await removed.submit(`${of(org)}/domains`, { domain: 'gmail.com' });
    expect(refused.text).toContain('gmail.com');
    expect(refused.body).toContain('value="gmail.com"');
  });

  test('saves sign-in settings, and leaves a setting that stays to the instance', async () => {
    const { org, clients } = await team(idctl);
    const page = await open(clients.owner, of(org));
    for (const said of [
      'This service does not offer: Passkey, Code by mail, Google, GitHub.',
      'Code by mail On Off People get a mail with a code',
      'Sign-up without an invitation On Off People create an account themselves',
    ])
      expect(page.text).toContain(said);
    expect(page.text).not.toMatch(/if absent|magic code|OAuth|self-signup/i);
    const saved = await page.submit(`${of(org)}/settings`, { allowSelfSignup: 'true' });
    expect(saved.text).toContain('The settings were saved.');
    const settings = `/api/v1/orgs/${org.slug}/signin-settings`;
    expect((await clients.owner.get(settings)).body).toMatchObject({ allowSelfSignup: true });
  });
});

describe('sign-in settings that shut people out', () => {
  /** The sign-in page of an owner on a verified domain; `sso`: who can sign in by single sign-on. */
  async function governed(enabled: boolean) {
    const { org, domain } = await connected(idctl, provider.issuer, { enabled });
    const join = async (email: string, role: 'owner' | 'member') => {
      await person(idctl, email);
      await addMember(idctl.operator(), { org: org.slug, email, role });
    };
    await join(`boss@${domain}`, 'owner');
    const other = await verifiedDomain(idctl, org.slug);
    for (const name of ['ada', 'ben']) await join(`${name}@${other}`, 'member');
    await disableUser(idctl.operator(), { user: org.owner.id });
    const client = await signedIn(idctl, `boss@${domain}`);
    const page = await open(client, of(org));
    const read = async () => (await client.get(`/api/v1/orgs/${org.slug}/signin-settings`)).body;
    return { page, other, read, form: `${of(org)}/settings` };
  }
  const change = { password: 'false', passkey: 'false', allowSelfSignup: 'true' };

  test('O3 a page names them and asks, and keeps every chosen setting', async () => {
    const { page, other, read, form } = await governed(true);
    const asks = await page.submit(form, change);
    expect(asks.status).toBe(200);
    expect(asks.text).toContain('2 people then have no way to sign in:');
    expect(asks.text).toContain(`ada@${other} ben@${other}`);
    expect(await read()).toMatchObject({ password: true, allowSelfSignup: false });
    // There is one more person than the form says: the page asks again.
    const again = await asks.submit(form, { shutsOut: '1' });
    expect(again.body).toContain('Save and shut out 2 people');
    expect((await again.submit(form)).text).toContain('The settings were saved.');
    expect(await read()).toMatchObject({ password: false, allowSelfSignup: true });
  });

  test('O3 a change that locks out every owner is refused', async () => {
    const { page, read, form } = await governed(false);
    const refused = await page.submit(form, change);
    expect(refused.status).toBe(409);
    expect(refused.text).toContain('could sign in any more');
    expect(await read()).toMatchObject({ password: true });
  });
});

describe('the connection to a provider', () => {
  test('an owner connects, tests and switches on a provider, and a person signs in', async () => {
    const { org, clients } = await team(idctl);
    const emailDomain = await verifiedDomain(idctl, org.slug);
    const choose = await open(clients.owner, `${of(org)}/sso/set`);
    expect(choose.text).toContain('Microsoft Entra ID Okta Google Workspace Keycloak Auth0');
    const asks = await open(clients.owner, `${of(org)}/sso/set?provider=other`);
    expect(asks.text).toContain(`${idctl.baseUrl}/auth/sso/callback`);
    const given = { ...shared, providerValue: provider.issuer, emailDomain };
    const saved = await asks.submit(`${of(org)}/sso/set`, given);
    expect(saved.text).toContain('The connection was saved.');
    const tested = await saved.submit(`${of(org)}/sso/test`);
    expect(tested.text).toContain('All checks passed.');
    const on = await saved.submit(`${of(org)}/sso/enable`);
    expect(on.text).toContain('The connection is on.');
    provider.people.set('ada', { email: `ada@${emailDomain}`, email_verified: true, name: 'Ada' });
    const session = await signInAt(idctl, provider, emailDomain, 'ada');
    expect(session.answer.status).toBe(200);
    expect((await open(clients.owner, `${of(org)}/sso`)).text).toContain(
      `ada@${emailDomain} signed in`,
    );
  });

  test('a refusal names the field as the page does, and stands at it', async () => {
    const { org, clients } = await team(idctl);
    const emailDomain = await verifiedDomain(idctl, org.slug);
    const tenant = '8eaef023-2b34-4da1-9baa-8bc8c9d6a490';
    const right = { ...shared, emailDomain, providerValue: tenant };
    const cases = [
      ['entra', 'providerValue', 'x', 'Directory (tenant) ID must be an ID such as'],
      ['entra', 'providerValue', ' ', 'Directory (tenant) ID is required.'],
      ['entra', 'clientSecret', ' \t', 'Client secret must not consist of spaces.'],
      ['entra', 'clientId', '  ', 'Client ID must not consist of spaces.'],
      ['okta', 'providerValue', 'a b', 'Okta domain must be a host name'],
      ['other', 'providerValue', 'https://acme.com/?x', 'Issuer URL must not contain a query'],
    ] as const;
    for (const [provider, field, value, said] of cases) {
      const asks = await open(clients.owner, `${of(org)}/sso/set?provider=${provider}`);
      const given = { ...right, provider, [field]: value };
      const refused = await asks.submit(`${of(org)}/sso/set`, given);
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(said)]);
      expect(refused.body.match(/<input[^>]* aria-invalid/g)).toEqual([
        expect.stringContaining(`name="${field}"`),
      ]);
    }
  });

  test('asks before a failed test: to switch on, and to save a connection that is on', async () => {
    const { org, clients } = await team(idctl);
    const emailDomain = await verifiedDomain(idctl, org.slug);
    const asks = await open(clients.owner, `${of(org)}/sso/set?provider=other`);
    const wrong = 'http://127.0.0.1:9';
    const given = { ...shared, providerValue: wrong, emailDomain };
    const saved = await asks.submit(`${of(org)}/sso/set`, given);
    const refused = await saved.submit(`${of(org)}/sso/enable`);
    expect(refused.text).toContain('failed');
    const enabled = async () =>
      (await clients.owner.get(`/api/v1/orgs/${org.slug}/sso`)).body.enabled;
    expect(await enabled()).toBe(false);
    const anyway = String(refused.body).split('Switch on anyway')[0] ?? '';
    expect(anyway.split('<form').at(-1)).toContain('name="untested" value="true"');
    const form = { untested: 'true' };
    expect((await saved.submit(`${of(org)}/sso/enable`, form)).text).toContain('is on.');
    const change = await open(clients.owner, `${of(org)}/sso/set`);
    const typed = { providerValue: 'http://127.0.0.1:9/typed', clientId: ' typed-client ' };
    const still = await change.submit(`${of(org)}/sso/set`, { ...given, ...typed });
    expect(still.text).toContain('Save anyway');
    // The form comes back with what was typed, not with what is stored.
    expect(still.text).toContain('Nothing was saved.');
    expect(still.body).toContain(`value="${typed.providerValue}"`);
    expect(still.body).toContain(`value="${typed.clientId}"`);
    const stored = await clients.owner.get(`/api/v1/orgs/${org.slug}/sso`);
    expect(stored.body.clientId).toBe(registration.clientId);
  });

  test('I8 what an admin saves here waits for an owner, and the page says so', async () => {
    const { org, clients } = await team(idctl);
    const emailDomain = await verifiedDomain(idctl, org.slug);
    const asks = await open(clients.admin, `${of(org)}/sso/set?provider=other`);
    const given = { ...shared, providerValue: provider.issuer, emailDomain };
    const spaced = { ...given, clientId: ` ${given.clientId} ` };
    const saved = await asks.submit(`${of(org)}/sso/set`, spaced);
    expect(saved.text).toContain('An owner has to approve this connection.');
    const stored = await clients.owner.get(`/api/v1/orgs/${org.slug}/sso`);
    expect(stored.body.clientId).toBe(given.clientId);
    const tested = await saved.submit(`${of(org)}/sso/test`);
    expect(tested.text).toContain('approval open It is waiting for an owner');
    expect((await open(clients.owner, '/')).text).toContain('Connections to approve');
  });

  test('keeps what was typed after a refusal, without the secret', async () => {
    const { org, clients } = await team(idctl);
    const asks = await open(clients.owner, `${of(org)}/sso/set?provider=entra`);
    const given = { ...registration, emailDomain: 'acme.example', providerValue: 'common' };
    const refused = await asks.submit(`${of(org)}/sso/set`, given);
    expect(refused.text).toContain('must be the ID of your own tenant');
    expect(refused.body).toContain('value="common"');
    expect(refused.body).toContain('aria-invalid="true"');
    expect(refused.body).not.toContain(registration.clientSecret);
  });

  test('switches off and removes after a page that says who signs in through it', async () => {
    const { org, clients } = await team(idctl);
    const emailDomain = await verifiedDomain(idctl, org.slug);
    const asks = await open(clients.owner, `${of(org)}/sso/set?provider=other`);
    const given = { ...shared, providerValue: provider.issuer, emailDomain };
    await (await asks.submit(`${of(org)}/sso/set`, given)).submit(`${of(org)}/sso/enable`);
    provider.people.set('ben', { email: `ben@${emailDomain}`, email_verified: true, name: 'Ben' });
    await signInAt(idctl, provider, emailDomain, 'ben');
    const off = await open(clients.owner, `${of(org)}/sso/disable`);
    expect(off.text).toContain('1 person signs in through it.');
    expect((await off.submit(`${of(org)}/sso/disable`)).text).toContain('The connection is off.');
    const remove = await open(clients.owner, `${of(org)}/sso/remove`);
    expect(remove.text).toContain('1 session ends.');
    const gone = await remove.submit(`${of(org)}/sso/remove`);
    expect(gone.text).toContain('The connection was removed.');
  });
});

describe.skipIf(counterpartMissing('slapd'))('the connection to a directory', () => {
  let slapd: Slapd;
  beforeAll(async () => {
    slapd = await startSlapd();
    await slapd.person('ada', { givenName: 'Ada', mail: 'ada@acme.example' });
  });
  afterAll(() => slapd?.stop());

  test('an owner connects, tests and switches on a directory', async () => {
    const { org, clients } = await team(idctl);
    await verifiedDomain(idctl, org.slug);
    const asks = await open(clients.owner, `${of(org)}/ldap`);
    expect(asks.text).toContain('Connect your directory');
    const wrong = { ...settingsFor(slapd), searchFilter: '(uid=' };
    const refused = await asks.submit(`${of(org)}/ldap/set`, wrong);
    expect(refused.text).toContain('Search filter');
    const saved = await refused.submit(`${of(org)}/ldap/set`, settingsFor(slapd));
    expect(saved.text).toContain('The connection was saved.');
    expect((await saved.submit(`${of(org)}/ldap/test`)).text).toContain('All checks passed.');
    const on = await saved.submit(`${of(org)}/ldap/enable`);
    expect(on.text).toContain('The connection is on.');
    const view = await clients.owner.get(`/api/v1/orgs/${org.slug}/ldap`);
    expect(view.body).toMatchObject({ enabled: true, approved: true, groupsAttribute: null });
  });
});

describe('a hint', () => {
  test('leads to the page where a person does what it names', async () => {
    const { org, clients } = await team(idctl);
    await addDomain(idctl.operator(), { org: org.slug, domain: `${org.slug}.example` });
    const asks = await open(clients.owner, `${of(org)}/sso/set?provider=other`);
    const given = {
      ...shared,
      providerValue: provider.issuer,
      emailDomain: `${org.slug}.example`,
    };
    const saved = await asks.submit(`${of(org)}/sso/set`, given);
    const refused = await saved.submit(`${of(org)}/sso/enable`);
    expect(refused.text).toContain('has not verified');
    expect(refused.body).toContain(`<a href="${of(org)}">Verify it first</a>`);
  });
});
