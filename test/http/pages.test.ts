import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pages } from '../../src/http/surface.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { createClient } from '../../src/services/tenancy/clients/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { addWebhook } from '../../src/services/tenancy/webhooks/operations.ts';
import { organization, password, person, signedIn } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { signedInAs } from '../support/instance.ts';
import { open } from '../support/pages.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({
    http: { returnToOrigins: ['https://app.example.test'] },
    signup: { open: 'on' },
    social: { google: { clientId: 'idctl', clientSecret: 'secret' } },
    limits: { enabled: 'off' },
  });
});
afterAll(() => idctl.close());

// The pages of a setup link do not need a session; test/security/setup-links.test.ts covers them.
const ofSessions = pages.filter(({ path }) => !path.startsWith('/setup'));
const forms = ofSessions.filter(({ method }) => method === 'POST');
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
const browser = () => idctl.client({ keepCookies: true });

/** Opens a browser in which a new person has signed in with the form. */
async function arrived(): Promise<{ client: Client; email: string; id: string; earlier: string }> {
  const { email, id } = await person(idctl);
  const client = browser();
  const asked = await open(client, `/login?identifier=${email}`);
  const answer = await asked.submit('/login/password', { password });
  expect(answer.text).toContain('Sign out');
  return { client, email: email ?? '', id, earlier: tokenIn(asked.body) };
}

/** The paths of these pages, in an organization that the person owns. */
async function pathsOf(of: typeof pages, { email, id }: { email: string; id: string }) {
  const { slug } = await organization(idctl);
  await addMember(idctl.operator(), { org: slug, email, role: 'owner' });
  const wiki = { org: slug, name: 'Wiki', redirectUris: ['http://localhost/cb'] };
  const { clientId } = await createClient(idctl.operator(), createClient.input.parse(wiki));
  await createProject(idctl.operator(), { org: slug, name: 'Website' });
  const hook = { org: slug, url: 'https://1.1.1.1/hooks', events: ['*'] };
  const webhook = await addWebhook(idctl.operator(), hook);
  return of.map(({ path }) =>
    path
      .replace(':org', slug)
      .replace(':project', 'website')
      .replace(':client', clientId)
      .replace('webhooks/:id', `webhooks/${webhook.id}`)
      .replace(':domain', `${slug}.example`)
      .replace(/:(user|id|members)/, id)
      .replace(':delivery', id),
  );
}

describe('X10 interface page: every page and form', () => {
  test('each page has a unique name, and none hides a REST route', () => {
    expect(new Set(pages.map(nameOf)).size).toBe(pages.length);
    expect(forms.length).toBeGreaterThan(10);
    for (const { path } of ofSessions)
      expect(path).toMatch(
        /^\/(login|account)\/[a-z-/]+$|^\/orgs\/:org(\/[a-z-]+|\/:(user|id|domain|project|client|members|delivery))*$|^\/$|^\/login$|^\/oauth\/logout(\/confirm)?$/,
      );
  });

  test('X10 no form is accepted from another site, without its token, or with the token of another browser or session', async () => {
    const { client, email, id } = await arrived();
    const other = await arrived();
    const stolen = tokenIn((await open(other.client, '/')).body);
    const paths = await pathsOf(forms, { email, id });
    const before = (await open(client, '/')).body;
    for (const path of paths) {
      const token = tokenIn((await open(client, '/')).body);
      const refused = [
        await client.form(path, { token }, { origin: 'https://evil.test' }),
        await client.form(path, { token }, { 'sec-fetch-site': 'cross-site' }),
        await client.form(path, {}),
        await client.form(path, { token: '' }),
        await client.form(path, { token: stolen }),
        await client.send('POST', path, { body: { token } }),
      ];
      expect([path, ...refused.map(({ status }) => status)]).toEqual([
        path,
        403,
        403,
        403,
        403,
        403,
        415,
      ]);
    }
    expect(hideTokens((await open(client, '/')).body)).toBe(hideTokens(before));
  });

  test('X10 the token of a form is valid for one session in one browser', async () => {
    const { client, earlier } = await arrived();
    const page = await open(client, '/');
    const rename = (token: string) =>
      client.form('/account/profile', { token, name: 'Eve', locale: 'en' });
    expect((await rename(earlier)).status).toBe(403);
    const own = client.jar.get('form') ?? '';
    client.jar.set('form', 'A'.repeat(own.length));
    expect((await rename(tokenIn(page.body))).status).toBe(403);
    client.jar.set('form', own);
    expect((await rename(tokenIn(page.body))).status).toBe(303);
  });

  test('X6 a form accepts only its own fields, each once; a page ignores unknown parameters', async () => {
    const { client, email, id } = await arrived();
    const paths = await pathsOf(forms, { email, id });
    const before = (await open(client, '/')).body;
    const token = tokenIn(before);
    for (const path of paths) {
      const more = await client.form(path, { token, nonsense: 'x' });
      expect([path, more.status, more.body.includes('is not a known field')]).toEqual([
        path,
        400,
        true,
      ]);
      expect([path, (await client.form(path, `token=${token}&id=a&id=b`)).status]).toEqual([
        path,
        400,
      ]);
      expect([path, (await client.form(path, { token, name: 'a\0b' })).status]).toEqual([
        path,
        400,
      ]);
    }
    expect(hideTokens((await open(client, '/')).body)).toBe(hideTokens(before));
    expect((await browser().get('/login?nonsense=x')).status).toBe(200);
    expect((await browser().get('/login?identifier=a&identifier=b')).status).toBe(400);
  });

  test('X10 an account’s pages and forms refuse a person who is not signed in', async () => {
    const own = ofSessions.filter(({ access }) => access !== 'public');
    expect(own.length).toBeGreaterThan(8);
    for (const { method, path: pattern } of own) {
      const path = pattern.replace(':org', 'acme');
      const answer = await browser().send(method, path, method === 'POST' ? { body: '' } : {});
      expect([path, answer.status], path).toEqual([path, method === 'GET' ? 303 : 307]);
      expect(answer.headers['location']).toContain('/api/v1/auth/resume');
      const again = await browser().send(method, `${path}?again=1`);
      const signIn =
        method === 'POST' || path === '/'
          ? '/login'
          : `/login?${new URLSearchParams({ returnTo: path })}`;
      expect([path, again.status, again.headers['location']]).toEqual([path, 303, signIn]);
    }
    expect((await open(browser(), '/')).text).toContain('E-mail address or company domain');
  });

  test('X10 a personal access token is no session: the pages refuse it', async () => {
    const { id } = await person(idctl);
    const { token } = await createToken(idctl.operator(), { user: id, name: 'ci' });
    const answer = await idctl.client({ headers: { authorization: `Bearer ${token}` } }).get('/');
    expect(answer.status).toBe(303);
  });

  test('X10 no form ends a session of another account, or replaces or revokes its tokens', async () => {
    const { client } = await arrived();
    const victim = await signedInAs(idctl, 'victim@elsewhere.test');
    const token = await createToken(idctl.operator(), { user: (await arrived()).id, name: 'mine' });
    const own = await createToken(idctl.operator(), { user: await idOf(client), name: 'own' });
    const page = await open(client, '/');
    const tries: [string, string][] = [
      ['/account/sessions/end', victim.spareSession],
      ['/account/tokens/regenerate', token.id],
      ['/account/tokens/revoke', token.id],
    ];
    for (const [path, id] of tries) {
      const field = tokenIn(page.body);
      expect([path, (await client.form(path, { token: field, id })).status]).toEqual([path, 404]);
    }
    expect((await victim.get('/api/v1/me/sessions')).body.items).toHaveLength(2);
    expect(page.text).toContain(own.prefix);
  });

  test.each(['/login', '/login?identifier=ada%40elsewhere.test', '/login/directory', '/'])(
    'X10 the content security policy limits what %s may load, and the page is not cached',
    async (path) => {
      const client = path === '/' ? (await arrived()).client : browser();
      const { status, headers, body } = await open(client, path);
      expect(status).toBe(200);
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self' https://app.example.test",
      );
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'content-type': 'text/html; charset=utf-8',
      });
      expect(body).not.toMatch(/<script|<style| style=| on[a-z]+=|https?:\/\//i);
      const style = /href="(\/login\/style-[^"]+)"/.exec(body)?.[1] ?? '';
      expect((await client.get(style)).headers).toMatchObject({
        'content-type': 'text/css; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
      });
    },
  );
});

describe('§5.2 staying signed in', () => {
  test('an expired access token is renewed on the way to a page, and the page’s final URL has no extra parameter', async () => {
    const { client } = await arrived();
    client.jar.delete('access_token');
    const answer = await client.get('/', { accept: 'text/html' });
    expect(answer.headers['location']).toBe('/api/v1/auth/resume?returnTo=%2F%3Fagain%3D1');
    expect((await open(client, '/')).text).toContain('Sign out');
    expect((await client.get('/?again=1')).headers['location']).toBe('/');
  });

  test('a person whose access token alone expired is signed in again without a form', async () => {
    const { client } = await arrived();
    client.jar.delete('access_token');
    const sent = await client.get(
      `/login?returnTo=${encodeURIComponent('https://app.example.test/x')}`,
    );
    expect([sent.status, sent.headers['location']]).toEqual([
      303,
      expect.stringMatching(/^\/api\/v1\/auth\/resume\?/),
    ]);
    const renewed = await client.get(String(sent.headers['location']), { accept: 'text/html' });
    const back = await client.get(String(renewed.headers['location']));
    expect(back.headers['location']).toBe('https://app.example.test/x');
    // Without a session, the sign-in page appears and keeps returnTo; in a new browser, at once.
    client.jar.delete('access_token');
    client.jar.delete('refresh_token');
    const screen = await open(
      client,
      `/login?returnTo=${encodeURIComponent('https://app.example.test/x')}`,
    );
    expect([screen.status, screen.body]).toEqual([
      200,
      expect.stringContaining('name="returnTo" value="https://app.example.test/x"'),
    ]);
    expect((await browser().get('/login?returnTo=%2Fprojects')).status).toBe(200);
  });

  test('a form sent after the access token expired is submitted again with all its fields after the renewal', async () => {
    const { client } = await arrived();
    const page = await open(client, '/');
    client.jar.delete('access_token');
    const answer = await page.submit('/account/profile', { name: 'Ada Lovelace', locale: 'en' });
    expect([answer.status, answer.text]).toEqual([
      200,
      expect.stringContaining('Your profile was saved.'),
    ]);
    expect(answer.text).toContain('Ada Lovelace');
  });

  test('a form whose session ended changes nothing and leads to the sign-in page', async () => {
    const { client, email } = await arrived();
    const page = await open(client, '/');
    const elsewhere = await signedIn(idctl, email);
    for (const { id, current } of (await elsewhere.get('/api/v1/me/sessions')).body.items) {
      if (!current) await elsewhere.send('DELETE', `/api/v1/me/sessions/${id}`);
    }
    const answer = await page.submit('/account/profile', { name: 'Eve', locale: 'en' });
    expect(answer.text).toContain('E-mail address or company domain');
    expect((await elsewhere.get('/api/v1/me')).body.name).toBe('Ada Byron');
  });

  test('X10 the renewal submits only forms of the account pages again', async () => {
    const { client } = await arrived();
    const path = '/api/v1/auth/resume?returnTo=';
    for (const returnTo of [
      '/login/password',
      'https://app.example.test/',
      '//evil.test/account/x',
      '/account/../login/password',
    ]) {
      const answer = await client.form(path + encodeURIComponent(returnTo), {});
      expect([returnTo, answer.status, answer.headers['location']]).toEqual([
        returnTo,
        400,
        undefined,
      ]);
    }
    const foreign = await client.form(
      `${path}${encodeURIComponent('/account/profile?again=1')}`,
      {},
      { origin: 'https://evil.test' },
    );
    expect([foreign.status, foreign.cookies]).toEqual([403, []]);
  });

  test('signing out ends the session on the server and clears the cookies', async () => {
    const { client } = await arrived();
    const kept = client.jar.get('access_token') ?? '';
    const answer = await (await open(client, '/')).submit('/account/sign-out');
    expect(answer.text).toContain('You are signed out.');
    expect([client.jar.has('access_token'), client.jar.has('refresh_token')]).toEqual([
      false,
      false,
    ]);
    const late = await idctl
      .client({ headers: { authorization: `Bearer ${kept}` } })
      .get('/api/v1/me');
    expect(late.status).toBe(401);
  });
});

test('S7 a sign-in returns to a path of this instance or a configured origin, and nowhere else', async () => {
  const { email } = await person(idctl);
  const to = async (returnTo: string) => {
    const client = browser();
    const asked = await open(
      client,
      `/login?${new URLSearchParams({ identifier: email ?? '', returnTo })}`,
    );
    if (asked.status !== 200) return asked.status;
    const form = /<form[^>]*action="\/login\/password".*?<\/form>/s.exec(asked.body)?.[0] ?? '';
    const token = tokenIn(form);
    const answer = await client.form('/login/password', {
      token,
      email: email ?? '',
      password,
      returnTo,
    });
    return answer.headers['location'];
  };
  expect(await to('/projects?a=1')).toBe('/projects?a=1');
  expect(await to('https://app.example.test/x')).toBe('https://app.example.test/x');
  expect(await to('https://evil.test/')).toBe(400);
  expect(await to('//evil.test/')).toBe(400);
  const client = browser();
  const screen = await open(client, `/login?identifier=${email}`);
  const forged = await screen.submit('/login/password', {
    password,
    returnTo: 'https://evil.test/',
  });
  expect([forged.status, client.jar.has('access_token')]).toEqual([400, false]);
});

test('a failed sign-in by redirect shows a page to a browser, and a problem object to other clients', async () => {
  const start = '/auth/sso/start?domain=nowhere.test';
  const page = await browser().get(start, { accept: 'text/html' });
  expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
  expect(page.body).toContain('No single sign-on is set up for nowhere.test.');
  expect(page.body).toContain('name="identifier"');
  expect((await browser().get(start)).body).toMatchObject({ code: 'sso_not_configured' });
  const late = await browser().get('/auth/sso/callback?code=c&state=s', { accept: 'text/html' });
  expect([late.status, late.body.includes('role="alert"')]).toEqual([401, true]);
});

test('X10 the account page escapes the name that a person chooses', async () => {
  const { client } = await arrived();
  const name = `<img src=x onerror="a"> & 'Ada'`;
  const answer = await (await open(client, '/')).submit('/account/profile', { name, locale: 'en' });
  expect(answer.body).toContain(
    '<h1>&lt;img src=x onerror=&quot;a&quot;&gt; &amp; &#39;Ada&#39;</h1>',
  );
  expect(answer.body).not.toContain('<img');
});

test('a refused form keeps what the person typed, except passwords', async () => {
  const { client } = await arrived();
  const refused = await (await open(client, '/')).submit('/account/profile', {
    name: 'Ada L.',
    locale: 'not a tag',
  });
  expect(refused.status).toBe(400);
  expect(refused.body).toContain('value="not a tag"');
  expect(refused.text).toContain('Language must be a language tag such as en or de-AT.');
  const again = await (await open(client, '/')).submit('/account/password', {
    currentPassword: password,
    newPassword: 'short-1',
  });
  expect([again.status, again.body.includes('short-1'), again.body.includes(password)]).toEqual([
    400,
    false,
    false,
  ]);
});

test('the account page names the organizations and the roles in them', async () => {
  const org = await organization(idctl);
  const client = await signedIn(idctl, org.owner.email);
  expect((await open(client, '/')).text).toMatch(new RegExp(`Organizations ${org.name} owner`));
});

const tokenIn = (body: string) => /name="token" value="([^"]+)"/.exec(body)?.[1] ?? '';
const hideTokens = (body: string) =>
  body.replace(/name="token" value="[^"]+"/g, '').replace(/last used [^<]*/g, '');

async function idOf(client: Client): Promise<string> {
  return (await client.get('/api/v1/me')).body.id;
}
