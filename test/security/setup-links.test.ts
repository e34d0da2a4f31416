import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { SetupLink, type SetupPart, setupParts } from '../../src/database/models/setup-link.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { transaction, transactionsInHand } from '../../src/database/transaction.ts';
import { pages } from '../../src/http/surface.ts';
import { requireAuthority } from '../../src/services/foundation/authority/require.ts';
import {
  authority,
  isAboutOneself,
  isAboutProject,
  type OrganizationRight,
  ruleOf,
} from '../../src/services/foundation/authority/table.ts';
import { sweepCredentials } from '../../src/services/people/credentials/credentials.ts';
import { disableUser } from '../../src/services/people/users/operations.ts';
import {
  addDomain,
  listDomains,
  verifyDomain,
} from '../../src/services/tenancy/domains/operations.ts';
import { takeOver } from '../../src/services/tenancy/identities/reclaim.ts';
import { changeLdap, enableLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import {
  changeMemberRole,
  removeMember,
} from '../../src/services/tenancy/memberships/operations.ts';
import { deleteOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { deleteUser } from '../../src/services/tenancy/profile/operations.ts';
import { revokeSetupLink } from '../../src/services/tenancy/setup-links/operations.ts';
import { changeSignInSettings } from '../../src/services/tenancy/signin-settings/operations.ts';
import {
  changeSso,
  disableSso,
  enableSso,
  saveSso,
  showSso,
} from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { fresh, person, verifiedDomain } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { open } from '../support/pages.ts';
import { providerMetadata } from '../support/saml.ts';
import { samlProvider } from '../support/saml-provider.ts';
import { clientOf } from '../support/scim-client.ts';
import { registration } from '../support/sso.ts';
import { team } from '../support/team.ts';

// A setup link lets a person without an account set up some parts of an organization.

let idctl: MailingIdctl;
beforeAll(async () => {
  idctl = await openMailingIdctl({
    limits: { enabled: 'off' },
    outbound: { allow: ['127.0.0.1'] },
    doh: { resolverUrl: 'https://127.0.0.1:9/dns-query' },
  });
});
afterAll(() => idctl?.close());

type Team = Awaited<ReturnType<typeof team>>;

/** A link that the owner has made, with the path of its URL. */
async function link(parts: readonly SetupPart[], given: object = {}, of?: Team) {
  const company = of ?? (await team(idctl));
  const at = `/api/v1/orgs/${company.org.slug}/setup-links`;
  const { status, body } = await company.clients.owner.post(at, { for: parts, ...given });
  expect([status, body]).toEqual([201, expect.objectContaining({ for: parts })]);
  return { ...company, at, id: String(body.id), path: new URL(body.url).pathname, body };
}

/** A browser to which a new link is bound. */
async function started(parts: readonly SetupPart[], of?: Team) {
  const made = await link(parts, {}, of);
  const browser = idctl.client({ keepCookies: true });
  const page = await (await open(browser, made.path)).submit(made.path);
  expect(page.status).toBe(200);
  return { ...made, browser, page };
}

const secretOf = (browser: Client) => browser.jar.get('idctl-setup') ?? '';
const stored = (id: string) => SetupLink.findByPk(id, { rejectOnEmpty: true });
const opens = async (browser: Client) => (await open(browser, '/setup')).status;

describe('security O13: a setup link', () => {
  test('O13 is bound to the first of twenty browsers that start at the same time, and tells the others', async () => {
    const { path, id } = await link(['domain']);
    const browsers = Array.from({ length: 20 }, () => idctl.client({ keepCookies: true }));
    const pages = await Promise.all(browsers.map((browser) => open(browser, path)));
    expect(pages.map(({ text }) => text.includes('Start in this browser'))).not.toContain(false);
    const answers = await Promise.all(pages.map((page) => page.submit(path)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const others = answers.filter(({ status }) => status === 409);
    expect(others).toHaveLength(19);
    for (const { text } of others) expect(text).toContain('was opened in another browser');
    const bound = browsers.filter((browser) => secretOf(browser) !== '');
    expect(bound).toHaveLength(1);
    expect(await Promise.all(bound.map(opens))).toEqual([200]);
    const events = await Event.findAll({ where: { kind: 'setup.link.opened' } });
    expect(events.filter(({ subject }) => subject?.id === id)).toHaveLength(1);
  });

  test('O13 an opened link says elsewhere who can make a new one, by role, and leads its own browser on', async () => {
    const { path, org, browser, people } = await started(['domain']);
    const elsewhere = await open(idctl.client({ keepCookies: true }), path);
    expect(elsewhere.status).toBe(409);
    expect(elsewhere.text).toContain(`ask an owner of ${org.name} for a new one`);
    expect(elsewhere.text).not.toContain(people.owner.email);
    expect((await open(browser, path)).text).toContain(`Set up sign-in for ${org.name}`);
  });

  test('O13 opening the page spends nothing, and sends a person who may set the parts up to the organization', async () => {
    const { path, org, clients, id } = await link(['domain', 'sso']);
    const admin = await clients.admin.get(path);
    expect([admin.status, admin.headers['location']]).toEqual([303, `/orgs/${org.id}/sign-in`]);
    expect((await open(clients.member, path)).text).toContain('Start in this browser');
    expect((await clients.stranger.send('HEAD', path)).status).toBe(200);
    expect((await stored(id)).claimedAt).toBe(null);
    const scim = await link(['scim'], {}, { org, clients, people: {} as Team['people'] });
    expect((await open(clients.admin, scim.path)).text).toContain('Start in this browser');
  });

  test('O13 its cookie counts below /setup only, as no other kind of credential, and a session counts for nothing there', async () => {
    const { org, browser, clients } = await started(['domain', 'sso', 'ldap', 'scim']);
    const secret = secretOf(browser);
    const cookie = { cookie: `idctl-setup=${secret}`, accept: 'text/html' };
    const client = idctl.client();
    const routes = [
      '/api/v1/me',
      '',
      '/domains',
      '/sso',
      '/members',
      '/setup-links',
      '/events',
    ].map((path) => (path.startsWith('/api') ? path : `/api/v1/orgs/${org.slug}${path}`));
    for (const path of routes) {
      const answer = await client.get(path, { cookie: cookie.cookie });
      expect([path, answer.status]).toEqual([path, 401]);
    }
    for (const header of [
      { authorization: `Bearer ${secret}` },
      { 'x-api-key': secret },
      { cookie: `access_token=${secret}` },
    ])
      expect((await client.get('/api/v1/me', header)).status).toBe(401);
    for (const path of ['/', `/orgs/${org.slug}`, `/orgs/${org.slug}/sign-in`]) {
      const answer = await client.get(path, cookie);
      expect([path, answer.status]).toEqual([path, 303]);
      expect(answer.headers['location']).toContain('/api/v1/auth/resume');
    }
    for (const path of ['/setup', '/setup/sso', '/setup/ldap/set', '/setup/scim', '/setup/done'])
      expect([path, (await open(clients.owner, path)).status]).toEqual([path, 404]);
    const form = { domain: 'acme.example' };
    expect((await clients.owner.form('/setup/domains', form)).status).toBe(404);
    expect(await opens(browser)).toBe(200);
  });

  test('O13 a session beside its cookie gives nothing more and nothing less', async () => {
    const company = await team(idctl);
    const { path } = await link(['domain'], {}, company);
    const { member } = company.clients;
    const page = await (await open(member, path)).submit(path);
    expect(page.text).toContain('Set up sign-in for');
    expect((await open(member, '/setup/sso')).status).toBe(403);
    const other = await started(['domain']);
    expect((await open(company.clients.owner, '/setup')).status).toBe(404);
    expect(await opens(other.browser)).toBe(200);
  });

  const pagesOf: Record<SetupPart, string[]> = {
    domain: ['/setup/domains'],
    sso: ['/setup/sso', '/setup/sso/set?provider=okta', '/setup/sso/saml?provider=okta'],
    ldap: ['/setup/ldap', '/setup/ldap/set'],
    scim: ['/setup/scim'],
  };

  test.each(setupParts)('O13 never does more than its parts: %s', async (part) => {
    const { org, browser, id, page } = await started([part]);
    for (const [of, paths] of Object.entries(pagesOf))
      for (const path of paths) {
        // Single sign-on and LDAP show the domains that they are for.
        const may = of === part || (of === 'domain' && part !== 'scim');
        expect([path, (await open(browser, path)).status]).toEqual([path, may ? 200 : 403]);
      }
    const actor = { kind: 'setupLink' as const, id, name: 'x', parts: [part] };
    const mine = idctl.as({ ...actor, organizationId: org.id });
    const rights = (Object.keys(authority) as (keyof typeof authority)[]).filter(
      (right) => ruleOf(right).least !== 'user',
    ) as OrganizationRight[]; // Every row but those about oneself.
    const allowed = [];
    for (const right of rights) {
      if (isAboutOneself(right) || isAboutProject(right)) continue;
      const may = await requireAuthority(mine, right, org.id).then(
        () => true,
        () => false,
      );
      if (may) allowed.push(right);
    }
    expect(allowed.toSorted()).toEqual(['organization.see', ...rightsOf[part]].toSorted());
    const { org: foreign } = await team(idctl);
    await expect(requireAuthority(mine, 'organization.see', foreign.id)).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(page.body).not.toMatch(/Remove|Switch off|\/orgs\//);
  });

  const rightsOf: Record<SetupPart, string[]> = {
    domain: ['domains.see', 'domains.change'],
    sso: ['sso.see', 'sso.change', 'sso.test', 'domains.see'],
    ldap: ['ldap.see', 'ldap.change', 'ldap.test', 'domains.see'],
    scim: ['scim.see', 'scim.create'],
  };

  test('O13 has no page that removes, switches off or approves, and its forms name no other organization', async () => {
    const { browser, page } = await started([...setupParts]);
    const domain = `${fresh('d')}.example`;
    const added = await page.submit('/setup/domains', { domain });
    expect(added.text).toContain(domain);
    for (const path of [
      `/setup/domains/${domain}/remove`,
      '/setup/sso/remove',
      '/setup/sso/disable',
    ])
      expect([path, (await browser.form(path, {})).status]).toEqual([path, 404]);
    const other = await team(idctl);
    const refused = await added.submit('/setup/domains', {
      domain: 'b.example',
      org: other.org.id,
    });
    expect(refused.status).toBe(400);
    const asks = await open(browser, '/setup/done');
    const stranger = idctl.client({ keepCookies: true });
    // The same browser, with the cookie of another link.
    for (const [name, value] of browser.jar) stranger.jar.set(name, value);
    stranger.jar.set('idctl-setup', secretOf((await started(['domain'])).browser));
    const token = tokenIn(asks);
    expect((await stranger.form('/setup/done', { token })).status).toBe(403);
  });

  test('O13 X10 its forms need their own token and this site, and take only their own fields', async () => {
    const { browser, page } = await started([...setupParts]);
    const token = tokenIn(page);
    const forms = pages.filter(({ method, path, access }) => {
      return method === 'POST' && access !== 'public' && path.startsWith('/setup');
    });
    expect(forms.length).toBeGreaterThan(8);
    for (const { path: pattern } of forms) {
      const path = pattern.replace(':domain', 'a.example');
      const refused = [
        await browser.form(path, { token }, { origin: 'https://evil.test' }),
        await browser.form(path, { token }, { 'sec-fetch-site': 'cross-site' }),
        await browser.form(path, {}),
        await browser.form(path, { token: 'x' }),
        await browser.send('POST', path, { body: { token } }),
        await browser.form(path, { token, nonsense: 'x' }),
      ];
      const statuses = refused.map(({ status }) => status);
      expect([path, ...statuses]).toEqual([path, 403, 403, 403, 403, 415, 400]);
    }
  });

  test('O13 what it does is an event with its id', async () => {
    const company = await team(idctl);
    const { id, path } = await link(['domain'], { email: 'it@vendor.test' }, company);
    const browser = idctl.client({ keepCookies: true });
    const page = await (await open(browser, path)).submit(path);
    const domain = `${fresh('d')}.example`;
    await page.submit('/setup/domains', { domain });
    const { items } = (
      await company.clients.owner.get(`/api/v1/orgs/${company.org.slug}/events?limit=200`)
    ).body;
    const actor = { kind: 'setupLink', id, name: 'it@vendor.test' };
    const done = items.filter(
      (event: { actor: { kind: string } }) => event.actor.kind === 'setupLink',
    );
    expect(done).toEqual([
      expect.objectContaining({ kind: 'setup.link.opened', actor }),
      expect.objectContaining({ kind: 'domain.added', actor }),
    ]);
  });

  test('O13 is stored as hashes, and is in no event, mail queue or list', async () => {
    const { path, id, at, clients, browser } = await started(['sso']);
    const token = path.split('/').at(-1) ?? '';
    expect(Buffer.from(token, 'base64url')).toHaveLength(16);
    expect(Buffer.from(secretOf(browser), 'base64url')).toHaveLength(16);
    const kept = JSON.stringify([
      await stored(id),
      await Event.findAll(),
      (await clients.owner.get(at)).body,
    ]);
    expect(kept).toContain(id);
    expect(kept).not.toContain(token);
    expect(kept).not.toContain(secretOf(browser));
  });
});

type Opened = Awaited<ReturnType<typeof started>>;

const endings: Record<string, (of: Opened) => Promise<unknown>> = {
  revoked: ({ id }) => revokeSetupLink(idctl.operator(), { id }),
  finished: async ({ browser }) => {
    const done = await (await open(browser, '/setup/done')).submit('/setup/done');
    expect(done.text).toContain('The setup link has ended.');
  },
  'its maker is made an admin': ({ org, people }) =>
    changeMemberRole(idctl.operator(), { org: org.id, user: people.owner.id, role: 'admin' }),
  'its maker is removed': ({ org, people }) =>
    removeMember(idctl.operator(), { org: org.id, user: people.owner.id }),
  'its maker is disabled': ({ people }) => disableUser(idctl.operator(), { user: people.owner.id }),
  'its maker is deleted': ({ people }) => deleteUser(idctl.operator(), { user: people.owner.id }),
  'its maker’s account is reclaimed': ({ people }) =>
    transaction(async () =>
      takeOver(idctl.operator(), await Account.findByPk(people.owner.id, { rejectOnEmpty: true }), {
        by: 'operator',
      }),
    ),
  'its organization is deleted': ({ org }) => deleteOrganization(idctl.operator(), { org: org.id }),
};

function tokenIn({ body }: { body: unknown }): string {
  return /name="token" value="([^"]+)"/.exec(String(body))?.[1] ?? '';
}

describe('security O13: a setup link ends', () => {
  test.each(Object.entries(endings))('O13 at the next request: %s', async (_how, end) => {
    const company = await team(idctl);
    const second = await person(idctl);
    const { slug } = company.org;
    await addMember(idctl.operator(), { org: slug, email: second.email ?? '', role: 'owner' });
    const opened = await started(['domain'], company);
    const unopened = await link(['domain'], {}, company);
    const secret = secretOf(opened.browser);
    await end(opened);
    // Nothing that happens later, such as a new role of its maker, makes it valid again.
    expect(await SetupLink.findByPk(opened.id)).toBe(null);
    opened.browser.jar.set('idctl-setup', secret);
    const after = await open(opened.browser, '/setup');
    expect([after.status, after.text]).toEqual([
      404,
      expect.stringContaining('invalid or has expired'),
    ]);
    const domain = `${fresh('d')}.example`;
    const refused = await opened.browser.form('/setup/domains', { domain });
    expect(refused.status).toBe(404);
    expect((await open(opened.browser, opened.path)).status).toBe(404);
    const others = _how === 'revoked' || _how === 'finished' ? 200 : 404;
    expect((await open(idctl.client({ keepCookies: true }), unopened.path)).status).toBe(others);
  });

  test('O13 when it expires, and the sweep deletes it', async () => {
    const { browser, id, path } = await started(['domain']);
    const short = await link(['domain'], { expires: '1m' });
    const unknown = await open(idctl.client(), `/setup/${'x'.repeat(22)}`);
    idctl.wait(60);
    expect((await open(idctl.client(), short.path)).body).toEqual(unknown.body);
    expect(await opens(browser)).toBe(200);
    idctl.wait(7 * 86_400);
    expect(await opens(browser)).toBe(404);
    expect((await open(idctl.client(), path)).body).toEqual(unknown.body);
    await sweepCredentials(idctl.operator(), undefined);
    expect(await SetupLink.findByPk(id)).toBe(null);
    idctl.wait(-7 * 86_400 - 60);
  });

  test('O13 the same page answers for an unknown, a revoked and a finished link', async () => {
    const bodies = [];
    for (const end of [endings['revoked'], endings['finished']]) {
      const opened = await started(['domain']);
      await end?.(opened);
      bodies.push((await open(idctl.client(), opened.path)).body);
    }
    bodies.push((await open(idctl.client(), '/setup/unknown')).body);
    expect(new Set(bodies).size).toBe(1);
  });

  test('O13 a link lives 30 days at most, opens known parts only, and expired ones do not count as living', async () => {
    const { at, clients } = await link(['domain'], { expires: '30d' });
    for (const wrong of [
      { for: ['domain'], expires: '31d' },
      { for: ['domain'], expires: '0d' },
      { for: ['people'] },
      { for: [] },
    ])
      expect((await clients.owner.post(at, wrong)).status).toBe(400);
    for (let n = 1; n < 20; n += 1)
      expect((await clients.owner.post(at, { for: ['sso'], expires: '1m' })).status).toBe(201);
    const more = await clients.owner.post(at, { for: ['sso'] });
    expect(more).toMatchObject({ status: 409, body: { code: 'cap_reached', most: 20 } });
    idctl.wait(60);
    expect((await clients.owner.post(at, { for: ['sso'] })).status).toBe(201);
    idctl.wait(-60);
  });
});

test('O13 a request that outlives its link does nothing more', async () => {
  const { org, id } = await started(['domain']);
  const name = 'setup link';
  const organizationId = org.id;
  const mine = idctl.as({ kind: 'setupLink', id, organizationId, name, parts: ['domain'] });
  const add = () => addDomain(mine, { org: org.id, domain: `${fresh('d')}.example` });
  await add();
  await revokeSetupLink(idctl.operator(), { id });
  await expect(add()).rejects.toMatchObject({ code: 'not_found' });
});

test('O13 a domain check that waits for the DNS while its link is revoked verifies nothing', async () => {
  const { org, id } = await started(['domain']);
  const name = 'setup link';
  const organizationId = org.id;
  const mine = idctl.as({ kind: 'setupLink', id, organizationId, name, parts: ['domain'] });
  const added = await addDomain(mine, { org: org.id, domain: `${fresh('d')}.example` });
  const { domain, txtRecord } = added;
  const lookupTxt = async () => {
    await revokeSetupLink(idctl.operator(), { id });
    return { rcode: 'NOERROR', values: [txtRecord.value], truncated: false };
  };
  const asking = { ...mine, outbound: { ...mine.outbound, lookupTxt } };
  const checking = verifyDomain(asking, { org: org.id, domain });
  await expect(checking).rejects.toMatchObject({ code: 'not_found' });
  const { items } = await listDomains(idctl.operator(), { org: org.id, limit: 10 });
  expect(items).toMatchObject([{ domain, state: 'Pending' }]);
});

describe('security O13: a setup link that is revoked while its request waits for the database', () => {
  const sso = { issuer: 'https://idp.example.test', ...registration };
  const ldap = {
    ...{ uri: 'ldaps://127.0.0.1', bindDn: 'cn=idctl,dc=x', bindPassword: 'a', searchBase: 'dc=x' },
    ...{ searchFilter: '(mail={username})', emailAttribute: 'mail' },
  };
  const changes: Record<string, (ctx: Context, org: string) => Promise<unknown>> = {
    'does not add a domain': (ctx, org) => addDomain(ctx, { org, domain: `${fresh('d')}.example` }),
    'does not change single sign-on': (ctx, org) => changeSso(ctx, { org, clientSecret: 'b' }),
    'does not switch single sign-on on': (ctx, org) => enableSso(ctx, { org }),
    'does not change the directory': (ctx, org) => changeLdap(ctx, { org, searchBase: 'dc=y' }),
    'does not switch the directory on': (ctx, org) => enableLdap(ctx, { org }),
  };

  test.each(Object.entries(changes))(
    'O13 a revoked link that waits for the database %s',
    async (_what, change) => {
      const parts = ['domain', 'sso', 'ldap'] as const;
      const { org, id } = await started(parts);
      const emailDomain = await verifiedDomain(idctl, org.slug);
      const secret = registration.clientSecret;
      await changeSso(idctl.operator(), { org: org.id, emailDomain, ...sso, clientSecret: secret });
      await changeLdap(idctl.operator(), { org: org.id, ...ldap });
      const name = 'setup link';
      const mine = { kind: 'setupLink', id, organizationId: org.id, name, parts } as const;
      const [revoked, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const revoking = transaction(async () => {
        await revokeSetupLink(idctl.operator(), { id });
        revoked.resolve();
        await asked.promise;
      });
      await revoked.promise;
      const changing = change(idctl.as({ ...mine, parts: [...parts] }), org.id).then(
        () => 'changed',
        ({ code }) => code,
      );
      await Promise.race([changing, expect.poll(transactionsInHand).toBe(2)]);
      asked.resolve();
      await revoking;
      expect(await changing).toBe('not_found');
    },
  );
});

describe('security I8: a connection that a setup link saves', () => {
  const given = { ...registration, provider: 'other', providerValue: 'https://idp.example.test' };

  test('I8 O13 waits for an owner, and names the link', async () => {
    const { org, page, browser, id } = await started(['sso']);
    const emailDomain = await verifiedDomain(idctl, org.slug);
    const asks = await open(browser, '/setup/sso/set?provider=other');
    const saved = await asks.submit('/setup/sso/set', { ...given, emailDomain });
    expect(saved.text).toContain('An owner has to approve this connection.');
    const on = await saved.submit('/setup/sso/enable', { untested: 'true' });
    expect(on.text).toContain('The connection is on.');
    expect(on.body).not.toMatch(/>Remove<|Switch off|Last sign-ins|\/orgs\//);
    expect(page.status).toBe(200);
    expect(await showSso(idctl.operator(), { org: org.slug })).toMatchObject({
      enabled: true,
      approved: false,
      changedBy: { kind: 'setupLink', id },
    });
  });

  test('I8 O13 loses its approval when the link switches it on after an owner switched it off', async () => {
    const { org, browser } = await started(['sso']);
    const emailDomain = await verifiedDomain(idctl, org.slug);
    const { provider: _, providerValue: issuer, ...client } = given;
    const settings = { org: org.slug, emailDomain, issuer, ...client };
    await changeSso(idctl.operator(), changeSso.input.parse(settings));
    const approved = async () => (await showSso(idctl.operator(), { org: org.slug })).approved;
    expect(await approved()).toBe(true);
    await enableSso(idctl.operator(), { org: org.slug });
    await disableSso(idctl.operator(), { org: org.slug });
    const page = await open(browser, '/setup/sso');
    await page.submit('/setup/sso/enable', { untested: 'true' });
    expect(await approved()).toBe(false);
  });
});

describe('security O13: a connection that is on', () => {
  async function whileOn() {
    const { org, browser } = await started(['sso']);
    const emailDomain = await verifiedDomain(idctl, org.slug);
    const settings = { org: org.slug, emailDomain, issuer: 'https://idp.example.test' };
    const saved = changeSso.input.parse({ ...settings, ...registration });
    await changeSso(idctl.operator(), saved);
    await enableSso(idctl.operator(), { org: org.slug });
    const stored = () => SsoConnection.findOne({ where: { organizationId: org.id }, raw: true });
    const before = await stored();
    return { org, browser, emailDomain, before, stored };
  }

  test('O13 a link does not change how its groups count, or whose sign-ins it is for', async () => {
    const { org, browser, before, stored } = await whileOn();
    const other = await verifiedDomain(idctl, org.slug);
    const page = await open(browser, '/setup/sso');
    expect(page.text).not.toContain('Groups and second factor');
    const token = tokenIn(page);
    for (const change of [
      { groupsClaim: 'roles' },
      { syncOnLogin: 'false' },
      { autoRemove: 'true' },
      { absentGroups: 'none' },
      { ignoreEmailVerified: 'true' },
      { requireLocalTwoFactor: 'true' },
    ]) {
      const refused = await browser.form('/setup/sso/settings', { token, ...change });
      expect([refused.status, change]).toEqual([400, change]);
      expect(refused.body).toContain('while the connection is on');
    }
    const asks = await open(browser, '/setup/sso/set');
    const moved = { providerValue: 'https://idp.example.test', emailDomain: other };
    const refused = await asks.submit('/setup/sso/set', { ...moved, ...registration });
    expect(refused.text).toContain('while the connection is on');
    expect(await stored()).toEqual(before);
  });

  test('O13 a link connects a SAML provider, but does not change the protocol', async () => {
    const { browser, emailDomain, before, stored } = await whileOn();
    expect((await open(browser, '/setup/sso')).text).not.toContain('Use SAML instead');
    const asks = await open(browser, '/setup/sso/saml?provider=other');
    const { key } = await samlProvider();
    const given = { metadataXml: providerMetadata(key.certificate), emailDomain };
    const refused = await asks.submit('/setup/sso/saml', given);
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining('Protocol cannot be changed with a setup link while'),
    ]);
    expect(await stored()).toEqual(before);
    const fresh = await started(['sso']);
    const domain = await verifiedDomain(idctl, fresh.org.slug);
    const form = await open(fresh.browser, '/setup/sso/saml?provider=entra');
    expect(form.text).toContain(`/auth/saml/${fresh.org.id}/acs`);
    const saved = await form.submit('/setup/sso/saml', { ...given, emailDomain: domain });
    expect(saved.text).toContain('An owner has to approve this connection.');
    const on = await saved.submit('/setup/sso/enable', { untested: 'true' });
    expect(on.text).toContain('The connection is on.');
    const change = await open(fresh.browser, '/setup/sso/saml');
    const groups = { groupsAttribute: 'teams', emailDomain: domain };
    const kept = await change.submit('/setup/sso/saml', groups);
    expect(kept.text).toContain('Groups attribute cannot be changed with a setup link while');
  });

  test('O13 a link does not change the groups of a directory that is on', async () => {
    const { org, browser } = await started(['ldap']);
    await verifiedDomain(idctl, org.slug);
    const settings = {
      ...{ org: org.slug, uri: 'ldaps://ldap.example.test', bindDn: 'cn=idctl', bindPassword: 's' },
      ...{ searchBase: 'dc=example', searchFilter: '(mail={username})', emailAttribute: 'mail' },
    };
    await changeLdap(idctl.operator(), changeLdap.input.parse(settings));
    await enableLdap(idctl.operator(), { org: org.slug });
    const page = await open(browser, '/setup/ldap/set');
    const given = { groupsAttribute: 'memberOf', untested: 'true' };
    const refused = await page.submit('/setup/ldap/set', given);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('is on')]);
  });

  test('O13 a link does not change the provider of SAML, nor what identifies a person there', async () => {
    const { org, id } = await link(['sso']);
    const emailDomain = await verifiedDomain(idctl, org.slug);
    const { certificate } = (await samlProvider()).key;
    const own = { metadataXml: providerMetadata(certificate) };
    const saml = { org: org.slug, kind: 'saml', emailDomain, enabled: true, ...own };
    await saveSso(idctl.operator(), saveSsoInput.parse(saml));
    const organizationId = org.id;
    const name = 'it@vendor.test';
    const mine = idctl.as({ kind: 'setupLink', id, organizationId, name, parts: ['sso'] });
    const change = (given: object) =>
      changeSso(mine, changeSso.input.parse({ org: org.slug, ...given }));
    const other = { metadataXml: providerMetadata(certificate, { ssoUrl: 'https://idp.test/o' }) };
    for (const given of [{ emailAttribute: 'x' }, { subjectAttribute: 'x' }, other])
      await expect(change(given)).rejects.toThrow('while the connection is on');
    expect(await change(own)).toMatchObject({ approved: true });
  });

  test('O13 a link saves only what passes the test', async () => {
    const { browser, emailDomain, before, stored } = await whileOn();
    const given = { providerValue: 'https://idp.example.test', emailDomain, untested: 'true' };
    const asks = await open(browser, '/setup/sso/set');
    const tested = await asks.submit('/setup/sso/set', { ...given, ...registration });
    expect(tested.text).toContain('Expected: ');
    expect(tested.body).not.toContain('Save anyway');
    // The form of the other settings does not take a secret.
    const settings = { token: tokenIn(asks), clientSecret: 'wrong' };
    expect((await browser.form('/setup/sso/settings', settings)).status).toBe(400);
    expect(await stored()).toEqual(before);
  });
});

test('O13 the first SCIM token only: a link does not replace it', async () => {
  const { org, browser, clients } = await started(['scim']);
  const page = await open(browser, '/setup/scim');
  const made = await page.submit('/setup/scim/token');
  const [token = ''] = /scim_\w+/.exec(made.text) ?? [];
  const users = await clientOf(idctl, org, token).get('/Users');
  expect(users.status).toBe(200);
  const again = await page.submit('/setup/scim/token');
  expect(again.status).toBe(409);
  expect(again.text).not.toContain('scim_');
  expect((await open(browser, '/setup/scim')).text).not.toContain('Create token');
  const state = await clients.owner.get(`/api/v1/orgs/${org.slug}/scim-token`);
  expect(token.startsWith(state.body.prefix)).toBe(true);
});

test('O13 mails the link to the address, and its end to the owner who made it', async () => {
  const vendor = `${fresh('it')}@vendor.test`;
  const { path, body, people, org } = await link(['domain', 'scim'], { email: vendor });
  expect(body).toMatchObject({ mailed: true, mailLimited: false, email: vendor });
  const [letter, ...more] = await idctl.lettersTo(vendor);
  expect(more).toEqual([]);
  expect(letter?.text).toContain(`${idctl.app.config.baseUrl}${path}`);
  expect(letter?.html).toContain(path);
  expect(letter?.text).toContain(org.name);
  const browser = idctl.client({ keepCookies: true });
  await (await open(browser, path)).submit(path);
  await (await open(browser, '/setup/done')).submit('/setup/done');
  const [notice] = await idctl.lettersTo(people.owner.email);
  expect(notice?.subject).toContain(`The setup of ${org.name} is finished`);
  expect(notice?.text).toContain(`By: ${vendor}`);
  const { path: second } = await link(['domain'], { email: vendor, expires: '1m' });
  idctl.wait(60);
  expect((await idctl.lettersTo(vendor)).map(({ text }) => text).join()).not.toContain(second);
  idctl.wait(-60);
});

test('O13 X10 only owners see, create and revoke links in the browser', async () => {
  const { org, clients } = await team(idctl);
  const path = `/orgs/${org.slug}/settings/setup-links`;
  for (const who of ['admin', 'member'] as const) {
    expect([who, (await open(clients[who], path)).status]).toEqual([who, 403]);
    expect((await open(clients[who], `/orgs/${org.slug}/sign-in`)).body).not.toContain(path);
  }
  expect((await open(clients.owner, `/orgs/${org.slug}/sign-in`)).body).toContain(path);
  const page = await open(clients.owner, path);
  // The helper would send boxes that are not ticked.
  const token = /name="token" value="([^"]+)"/.exec(String(page.body))?.[1] ?? '';
  const none = await clients.owner.form(path, { token, expires: '1d' });
  expect(none.status).toBe(400);
  expect(none.body).toContain('What to set up must name at least one part.');
  const given = { domain: 'true', ldap: 'true', expires: '1d', email: 'it@vendor.test' };
  const made = await clients.owner.form(path, { token, ...given });
  const [url = ''] = /http[^<]*\/setup\/[\w-]{22}/.exec(String(made.body)) ?? [];
  const entry = await open(idctl.client({ keepCookies: true }), new URL(url).pathname);
  expect(entry.text).toContain('e-mail domains a directory (LDAP)');
  const list = await open(clients.owner, path);
  expect(list.text).toContain('it@vendor.test not opened');
  expect(list.body).not.toContain(url);
  const revoke = /href="([^"]+\/revoke)"/.exec(String(list.body))?.[1] ?? '';
  const done = await (await open(clients.owner, revoke)).submit(revoke);
  expect(done.text).toContain('The setup link was revoked.');
  expect((await open(idctl.client(), new URL(url).pathname)).status).toBe(404);
});

// This comes last: its settings govern the addresses of everyone else.
test('O13 a refusal does not name the owners whom a change would lock out', async () => {
  const { org, browser, people } = await started(['sso']);
  const issuer = 'https://idp.example.test';
  const settings = { org: org.slug, emailDomain: 'example.test', issuer, ...registration };
  await verifiedDomain(idctl, org.slug, settings.emailDomain);
  await changeSso(idctl.operator(), changeSso.input.parse(settings));
  await enableSso(idctl.operator(), { org: org.slug });
  const rules = { password: false, passkey: false, magicCode: false, google: false, github: false };
  await changeSignInSettings(
    idctl.operator(),
    changeSignInSettings.input.parse({ org: org.slug, ...rules }),
  );
  const page = await open(browser, '/setup/sso/set');
  const refused = await page.submit('/setup/sso/set', {
    ...{ providerValue: 'https://other.example.test', emailDomain: 'example.test' },
    ...{ ...registration, untested: 'true' },
  });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('No owner of');
  expect(refused.text).not.toContain(people.owner.email);
  expect(refused.text).not.toContain('Ada');
});
