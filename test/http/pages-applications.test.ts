import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, showClient } from '../../src/services/tenancy/clients/operations.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { verifiedDomain } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type Opened, open } from '../support/pages.ts';
import { team } from '../support/team.ts';

// The pages on which admins connect the applications that members sign in to.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ limits: { enabled: 'off' } });
});
afterAll(() => idctl.close());

const callback = 'https://wiki.acme.test/callback';

/** An organization with the application Wiki. */
async function withWiki(more: object = {}) {
  const here = await team(idctl);
  const given = { org: here.org.slug, name: 'Wiki', redirectUris: [callback], ...more };
  const made = await createClient(idctl.operator(), createClient.input.parse(given));
  const list = `/orgs/${here.org.slug}/applications`;
  const stored = () => showClient(idctl.operator(), { org: here.org.slug, client: made.clientId });
  return { ...here, made, list, path: `${list}/${made.clientId}`, stored };
}

const codesOn = ({ body }: Opened) =>
  [...String(body).matchAll(/<code class="secret">([^<]*)<\/code>/g)].map(([, code = '']) => code);
const areaOn = ({ body }: Opened, name: string) =>
  new RegExp(`<textarea id="${name}"[^>]*>\\n([^<]*)<`).exec(String(body))?.[1];

describe('security X10: the pages of applications', () => {
  test('X10 only admins and owners open them, and only for the applications of their organization', async () => {
    const { org, clients, list, path } = await withWiki();
    const pages = [list, `${list}/new`, path, `${path}/rotate`, `${path}/remove`];
    for (const page of pages) {
      const [owner, admin, member, stranger] = await Promise.all(
        [clients.owner, clients.admin, clients.member, clients.stranger].map(
          async (client) => (await open(client, page)).status,
        ),
      );
      expect([page, owner, admin, member, stranger]).toEqual([page, 200, 200, 403, 404]);
    }
    expect((await open(clients.admin, `/orgs/${org.slug}`)).body).toContain(`href="${list}"`);
    expect((await open(clients.member, `/orgs/${org.slug}`)).body).not.toContain(list);
    const other = await withWiki();
    const foreign = `${list}/${other.made.clientId}`;
    for (const page of [foreign, `${foreign}/rotate`, `${foreign}/remove`, `${list}/nothing`])
      expect([page, (await open(clients.admin, page)).status]).toEqual([page, 404]);
  });

  test('X10 a form that a member sends is refused, and changes nothing', async () => {
    const { clients, list, path, stored } = await withWiki();
    const before = await stored();
    const own = await open(clients.member, '/');
    const [, token = ''] = /name="token" value="([^"]+)"/.exec(String(own.body)) ?? [];
    for (const form of [`${list}/new`, path, `${path}/test`, `${path}/rotate`, `${path}/remove`]) {
      const fields = { token, name: 'Mine', redirectUris: callback };
      const { status } = await clients.member.form(form, fields, { accept: 'text/html' });
      expect([form, status]).toEqual([form, 403]);
    }
    expect(await stored()).toEqual(before);
  });

  test('X10 a refused form keeps what was typed, and puts the message at its field', async () => {
    const { clients, list, path } = await withWiki();
    const page = await open(clients.admin, `${list}/new`);
    const typed = {
      name: '<b>Chat</b>',
      redirectUris: 'https://chat.test/ok\nhttp://chat.test/not',
      pkce: 'false',
    };
    const refused = await page.submit(`${list}/new`, typed);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain(
      'Redirect URIs, line 2, must be an https:// address, or http:// on localhost.',
    );
    expect(refused.body).toContain('value="&lt;b&gt;Chat&lt;/b&gt;"');
    expect(areaOn(refused, 'redirectUris')).toBe(typed.redirectUris);
    expect(refused.body).toMatch(
      /<textarea id="redirectUris"[^>]* aria-describedby="redirectUris-note refused" aria-invalid="true"/,
    );
    expect(refused.body).toContain('<option value="false" selected>Not required</option>');
    expect(refused.body).toContain('<details class="more"><summary>More settings</summary>');
    // A fault in a setting that is seldom needed opens the part with it.
    const more = await page.submit(`${list}/new`, {
      ...typed,
      redirectUris: '',
      name: 'Chat',
      forwardAuthOrigins: 'x',
    });
    expect([more.status, more.body]).toEqual([
      400,
      expect.stringContaining('<details class="more" open><summary>More settings'),
    ]);
    const taken = await page.submit(`${list}/new`, { name: 'Wiki', redirectUris: callback });
    expect([taken.status, taken.text]).toEqual([
      409,
      expect.stringContaining('Choose another name.'),
    ]);
    // What was emptied stays empty.
    const change = await open(clients.admin, path);
    const emptied = await change.submit(path, { name: '', redirectUris: '' });
    expect([emptied.status, areaOn(emptied, 'redirectUris')]).toEqual([400, '']);
    expect(emptied.text).toContain('Name must not be empty.');
  });
});

test('an application is added, its secret is shown once, and the page says what to enter there', async () => {
  const { org, clients } = await team(idctl);
  await createProject(idctl.operator(), { org: org.slug, name: 'Web', slug: 'web' });
  const list = `/orgs/${org.slug}/applications`;
  const none = await open(clients.admin, list);
  expect(none.text).toContain('There is no application yet.');
  const made = await (await open(clients.admin, `${list}/new`)).submit(`${list}/new`, {
    name: 'Wiki',
    redirectUris: `${callback}\r\n  http://localhost:3000/callback  \r\n\r\n`,
    project: 'web',
    role: 'admin',
  });
  expect(made.status).toBe(200);
  expect(made.text).toContain('Copy the secret now: it is not shown again.');
  const { items } = (await clients.admin.get(`/api/v1/orgs/${org.slug}/clients`)).body;
  const [client] = items;
  expect(client).toMatchObject({
    redirectUris: [callback, 'http://localhost:3000/callback'],
    ...{ project: 'web', role: 'admin', public: false, pkce: true, homeUrl: null },
  });
  const { baseUrl } = idctl;
  expect(codesOn(made)).toEqual([
    ...[client.clientId, baseUrl, `${baseUrl}/.well-known/openid-configuration`],
    expect.stringMatching(/^cos_secret_/),
    ...['/oauth/authorize', '/api/v1/oauth/token', '/oauth/userinfo'].map((at) => baseUrl + at),
    ...['/.well-known/jwks.json', '/oauth/logout'].map((at) => baseUrl + at),
  ]);
  const later = await open(clients.admin, `${list}/${client.clientId}`);
  expect(later.body).not.toContain('cos_secret_');
  expect(codesOn(later)).toContain(client.clientId);
  expect((await open(clients.admin, list)).text).toContain(
    'wiki.acme.test For members of the project web with the role admin or a higher one',
  );
});

test('an application without a secret leads to its page, and one behind a proxy says what the proxy asks', async () => {
  const { org, clients } = await team(idctl);
  const at = `/orgs/${org.slug}/applications/new`;
  const page = await open(clients.admin, at);
  const device = await page.submit(at, { name: 'Phone', redirectUris: callback, public: 'true' });
  expect(device.text).toContain('The application was added.');
  expect(device.body).not.toContain('New secret');
  const origin = `https://app.${await verifiedDomain(idctl, org.slug)}`;
  const proxied = await page.submit(at, { name: 'Behind', forwardAuthOrigins: origin });
  expect(codesOn(proxied)).toEqual([`${idctl.baseUrl}/auth/verify`]);
  expect(areaOn(proxied, 'forwardAuthOrigins')).toBe(origin);
});

test('a change saves every field of the form, empty ones too', async () => {
  const { clients, path, stored, made } = await withWiki({
    homeUrl: 'https://wiki.acme.test/',
    postLogoutRedirectUris: ['https://wiki.acme.test/bye'],
  });
  const page = await open(clients.admin, path);
  expect(areaOn(page, 'redirectUris')).toBe(callback);
  const same = await page.submit(path, {
    redirectUris: areaOn(page, 'redirectUris') ?? '',
    postLogoutRedirectUris: areaOn(page, 'postLogoutRedirectUris') ?? '',
  });
  expect(same.text).toContain('The application was changed.');
  const { clientSecret: _, ...before } = made;
  expect(await stored()).toEqual(before);
  await page.submit(path, {
    name: 'Handbook',
    redirectUris: 'https://handbook.test/cb',
    homeUrl: '',
    pkce: 'false',
    idTokenAlg: 'EdDSA',
  });
  expect(await stored()).toEqual({
    ...before,
    ...{ name: 'Handbook', redirectUris: ['https://handbook.test/cb'], homeUrl: null },
    ...{ postLogoutRedirectUris: [], pkce: false, idTokenAlg: 'EdDSA' },
  });
});

test('X10 a new secret and a removal ask first, and opening their pages changes nothing', async () => {
  const { org, clients, list, path, stored } = await withWiki();
  const asks = await open(clients.admin, `${path}/rotate`);
  expect(asks.text).toContain('Give Wiki a new secret? The old one stops immediately.');
  expect(asks.body).not.toContain('cos_secret_');
  const events = async (kind: string) =>
    (await clients.admin.get(`/api/v1/orgs/${org.slug}/events?kind=${kind}`)).body.items.length;
  expect(await events('client.rotated')).toBe(0);
  const renewed = await asks.submit(`${path}/rotate`);
  expect(codesOn(renewed)).toContainEqual(expect.stringMatching(/^cos_secret_/));
  expect(await events('client.rotated')).toBe(1);
  const ending = await open(clients.admin, `${path}/remove`);
  expect(ending.text).toContain('Remove Wiki? People can then no longer sign in to it.');
  expect(await stored()).toMatchObject({ name: 'Wiki' });
  const removed = await ending.submit(`${path}/remove`);
  expect(removed.text).toMatch(/The application was removed\. .* There is no application yet\./);
  const gone = await open(clients.admin, `${path}/remove`);
  expect([gone.status, gone.body]).toEqual([404, expect.stringContaining(`href="${list}"`)]);
});

test('a refusal about a secret leads to the form that changes it', async () => {
  const { clients, path } = await withWiki({ public: true });
  const refused = await open(clients.admin, `${path}/rotate`);
  expect([refused.status, refused.text]).toEqual([
    409,
    expect.stringContaining('Wiki is public: it has no secret.'),
  ]);
  expect(refused.body).toContain(`href="${path}"`);
});

test('a test of an application shows its steps, and what it learns about a member', async () => {
  const { org, clients, people, path } = await withWiki({
    redirectUris: ['http://localhost:3000/cb'],
  });
  const page = await open(clients.admin, path);
  const tested = await page.submit(`${path}/test`);
  expect(tested.status).toBe(200);
  expect(tested.text).toContain('All checks passed.');
  expect(tested.text).toMatch(/client secret ok sign-in not checked/);
  const member = await page.submit(`${path}/test`, { user: people.member.email });
  expect(member.text).toContain('What the application learns about the person');
  expect(member.text).toContain(`email ${people.member.email}`);
  expect(member.text).toContain(`organization ${org.id}, ${org.slug}`);
  const stranger = await tested.submit(`${path}/test`, { user: people.stranger.email ?? '' });
  expect(stranger.text).toContain('sign-in failed');
  expect(stranger.text).toContain(
    'access_denied, as no member of the organization has this address',
  );
  for (const { text } of [tested, member, stranger])
    expect(text).not.toMatch(/--\w|idctl client|\/api\/v1\/orgs|[{}]/);
  const wrong = await page.submit(`${path}/test`, { user: 'Ben' });
  expect([wrong.status, wrong.text]).toEqual([
    400,
    expect.stringContaining('The person must be an e-mail address'),
  ]);
  expect(wrong.body).toContain('value="Wiki"');
});

test('the list has pages of fifty', async () => {
  const { org, clients } = await team(idctl);
  for (let at = 0; at < 51; at += 1) {
    const given = { org: org.slug, name: `App ${at}`, redirectUris: [callback] };
    await createClient(idctl.operator(), createClient.input.parse(given));
  }
  const first = await open(clients.admin, `/orgs/${org.slug}/applications`);
  const [, next = ''] = /href="([^"]*)" rel="next"/.exec(String(first.body)) ?? [];
  const namesOn = ({ text }: Opened) => text.match(/App \d+/g)?.length;
  expect([namesOn(first), namesOn(await open(clients.admin, next))]).toEqual([50, 1]);
});
