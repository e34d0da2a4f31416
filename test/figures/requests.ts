import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { addMapping } from '../../src/services/provisioning/mappings/operations.ts';
import { createClient } from '../../src/services/tenancy/clients/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { authenticatorAt } from '../support/authenticator.ts';
import { type Bind, startBind } from '../support/bind.ts';
import {
  fresh,
  organization,
  password,
  person,
  signedIn,
  verifiedDomain,
} from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { browserAt, enter, verify } from '../support/forward-auth.ts';
import type { Answer } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { joined, settingsFor, signInByLdap } from '../support/ldap.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { passkeySite, personWithPasskey } from '../support/passkeys.ts';
import { application, browserOf, walk } from '../support/relying-party.ts';
import { scimClient } from '../support/scim-client.ts';
import { type Slapd, startSlapd } from '../support/slapd.ts';
import { openSocial, type Social, startAt, withGoogle } from '../support/social.ts';
import { comeBack, connected, registration, start } from '../support/sso.ts';
import { countCalls } from './coverage.ts';

// Each kind of request is sent a few times, by different people. The first is not counted: it loads
// modules and fills caches, so that the others meet a daemon that has run for a while. The instance
// runs on SQLite, hashes passwords as a daemon does, and logs errors only.

/** Prepares a request. Returns a function that sends this request and nothing else. */
type Prepare = () => Promise<() => Promise<unknown>>;

const settings = { password: {}, outbound: { allow: ['127.0.0.1'] } };
const calls = await countCalls(resolve(import.meta.dirname, '../..'));
afterAll(() => calls.close());

let idctl: Idctl;

function measured(name: string, prepare: Prepare): void {
  test(name, async ({ task }) => {
    await (await prepare())();
    const sends = [await prepare(), await prepare(), await prepare()];
    task.meta.entered = await calls.duringEach(sends);
  });
}

/** The answer of a request, which must have this status. */
async function answered(answer: Promise<Answer>, status = 200): Promise<Answer> {
  const { status: seen, body } = await answer;
  if (seen !== status) throw new Error(`answered ${seen}: ${JSON.stringify(body)}`);
  return answer;
}

describe('at an address on loopback', () => {
  let provider: OpenIdProvider;
  let bind: Bind | null = null;
  let slapd: Slapd | null = null;

  beforeAll(async () => {
    if (!counterpartMissing('bind9')) bind = await startBind('zone.test');
    if (!counterpartMissing('slapd')) slapd = await startSlapd();
    const doh =
      bind === null ? {} : { doh: { resolverUrl: bind.resolverUrl, caFile: bind.caFile } };
    idctl = await openIdctl({ ...settings, ...doh });
    const redirect_uris = [`${idctl.baseUrl}/auth/sso/callback`];
    const { clientId: client_id, clientSecret: client_secret } = registration;
    provider = await startOpenIdProvider({
      clients: [{ client_id, client_secret, redirect_uris }],
    });
  });
  afterAll(async () => {
    await idctl.close();
    await provider.stop();
    await slapd?.stop();
    await bind?.stop();
  });

  measured('password', async () => {
    const { email } = await person(idctl);
    const client = idctl.client();
    return () => answered(client.post('/api/v1/auth/login', { email, password }));
  });

  /** A person of a new organization at the provider, and the end of their next sign-in. */
  async function ssoPerson() {
    const { domain } = await connected(idctl, provider.issuer);
    const sub = fresh('sub');
    const claims = { email: `${sub}@${domain}`, email_verified: true, name: 'Grace Hopper' };
    provider.people.set(sub, claims);
    return async () => {
      const client = idctl.client({ keepCookies: true });
      const callback = await provider.signIn(await start(client, domain), sub);
      return () => answered(comeBack(client, callback));
    };
  }

  measured('SSO, a first sign-in', async () => (await ssoPerson())());

  measured('SSO, a later sign-in', async () => {
    const begin = await ssoPerson();
    await (await begin())();
    return begin();
  });

  describe.skipIf(counterpartMissing('slapd'))('slapd', () => {
    measured('LDAP, a later sign-in', async () => {
      if (slapd === null) throw new Error('slapd is not running');
      const { org, domain } = await joined(idctl, settingsFor(slapd));
      const username = fresh('uid');
      await slapd.person(username, { mail: `${username}@${domain}` });
      const send = () => answered(signInByLdap(idctl, { username, org: org.slug }));
      await send();
      return send;
    });
  });

  measured('SCIM PATCH, a member of a mapped group', async () => {
    const client = await scimClient(idctl);
    const org = client.org.slug;
    await createProject(idctl.operator(), { org, name: 'Web', slug: 'web' });
    await addMapping(idctl.operator(), { org, group: 'dev', project: 'web', role: 'member' });
    const { id: value } = await client.create({ userName: `ada@${org}.test` });
    const { body: group } = await client.send('POST', '/Groups', { displayName: 'dev' });
    const schemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];
    const Operations = [{ op: 'add', path: 'members', value: [{ value }] }];
    const send = () => client.send('PATCH', `/Groups/${group.id}`, { schemas, Operations });
    return () => answered(send(), 204);
  });

  measured('code flow, from the authorization request to the code', async () => {
    const app = await application(idctl);
    const browser = await browserOf(idctl, app.email);
    const { path } = await app.begin();
    return () => walk(browser, path);
  });

  measured('code flow, from the code to the tokens', async () => {
    const app = await application(idctl);
    const browser = await browserOf(idctl, app.email);
    const { path, url, checks } = await app.begin();
    const code = new URL(await walk(browser, path)).searchParams.get('code') ?? '';
    const fields = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: url.searchParams.get('redirect_uri') ?? '',
      code_verifier: checks.pkceCodeVerifier,
      client_id: app.clientId,
      client_secret: app.secret,
    };
    const client = idctl.client();
    const { pathname } = new URL(app.config.serverMetadata().token_endpoint ?? '');
    return () => answered(client.form(pathname, fields));
  });

  measured('forward auth, a request of a signed-in browser', async () => {
    const { slug: org } = await organization(idctl);
    const origin = `https://app.${await verifiedDomain(idctl, org)}`;
    const input = { org, name: 'App', forwardAuthOrigins: [origin] };
    await createClient(idctl.operator(), createClient.input.parse(input));
    const { email } = await person(idctl);
    await addMember(idctl.operator(), { org, email: email ?? '', role: 'member' });
    const browser = browserAt(idctl, origin);
    await enter(browser, await signedIn(idctl, email));
    return () => answered(verify(browser));
  });

  measured('apply, a document with a project and a member', async () => {
    const { slug: org, owner } = await organization(idctl);
    const { token } = await createToken(idctl.operator(), { user: owner.id, name: 'apply' });
    const client = idctl.client({ headers: { authorization: `Bearer ${token}` } });
    const members = [
      { email: owner.email, role: 'owner' },
      { email: (await person(idctl)).email, role: 'member' },
    ];
    const document = { idctl: 1, members, projects: [{ slug: 'web', name: 'Web' }] };
    const plan = client.post(`/api/v1/orgs/${org}/plan`, { document });
    const { digest } = (await answered(plan)).body;
    return () => answered(client.post(`/api/v1/orgs/${org}/apply`, { document, digest }));
  });

  describe.skipIf(counterpartMissing('bind9'))('bind9', () => {
    measured('domain verify', async () => {
      const org = await organization(idctl);
      const client = await signedIn(idctl, org.owner.email);
      const domains = `/api/v1/orgs/${org.slug}/domains`;
      const domain = `${fresh('d')}.zone.test`;
      const { body } = await answered(client.post(domains, { domain }), 201);
      await bind?.publishTxt(domain, body.txtRecord.value);
      return () => answered(client.post(`${domains}/${domain}/verify`));
    });
  });
});

describe('at an https address with a host name', () => {
  let social: Social;

  beforeAll(async () => {
    social = await openSocial(openIdctl, { ...settings, baseUrl: passkeySite });
    idctl = social.idctl;
  });
  afterAll(() => social.close());

  measured('social (Google), a later sign-in', async () => {
    const sub = fresh('sub');
    const email = `${sub}@example.test`;
    social.google.people.set(sub, { email, email_verified: true, name: 'Grace Hopper' });
    await withGoogle(social, sub);
    const client = idctl.client({ keepCookies: true });
    const callback = await social.google.signIn(await startAt(client, 'google'), sub);
    return () => answered(comeBack(client, callback));
  });

  measured('passkey', async () => {
    const { held } = await personWithPasskey(idctl);
    const client = idctl.client({ keepCookies: true });
    const { body } = await client.post('/api/v1/auth/passkey/options');
    const credential = authenticatorAt(passkeySite).get(held, body);
    return () => answered(client.post('/api/v1/auth/passkey', { credential }));
  });
});
