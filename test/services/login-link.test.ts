import { afterAll, beforeAll, expect, test } from 'vitest';
import { Event } from '../../src/database/models/event.ts';
import { disableUser } from '../../src/services/accounts/disable.ts';
import { createLoginLink } from '../../src/services/signin/link.ts';
import { saveSignInSettings } from '../../src/services/signin/save.ts';
import { organization, person, verifiedDomain } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { enrolled } from '../support/two-factor.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
  // Beside it, an organization governs its own domains only.
  await organization(idctl);
});
afterAll(() => idctl.close());

const linkFor = (user: string) => createLoginLink(idctl.operator(), { user });
const open = (url: string, client = idctl.client({ keepCookies: true })) => {
  const { pathname, search } = new URL(url);
  return client.get(pathname + search);
};
const spent = { status: 401, body: { code: 'invalid_credential' }, cookies: [] };

test('O4 the operator’s link signs in once, within ten minutes, whatever the settings say, with an event', async () => {
  const org = await organization(idctl);
  const domain = await verifiedDomain(idctl, org.slug);
  const account = await person(idctl, `ada@${domain}`);
  await saveSignInSettings(idctl.operator(), {
    org: org.slug,
    password: false,
    google: false,
    github: false,
  });
  const { url, expiresAt } = await linkFor(account.id);
  expect(url).toMatch(new RegExp(`^${idctl.baseUrl}/login/link\\?token=[\\w-]{43}$`));
  expect(Date.parse(expiresAt)).toBeGreaterThan(idctl.app.clock().getTime() + 590_000);
  const browser = idctl.client({ keepCookies: true, headers: { accept: 'text/html' } });
  // A program that looks what is behind a link does not use it up.
  const look = (path: string) => idctl.client().send('HEAD', path);
  expect(await look(url.slice(idctl.baseUrl.length))).toMatchObject({
    status: 303,
    headers: { location: '/login' },
    cookies: [],
  });
  expect(await look('/auth/sso/callback')).toMatchObject({ status: 405, headers: { allow: 'GET' } });
  expect(await open(url, browser)).toMatchObject({
    status: 302,
    headers: { location: '/', 'cache-control': 'no-store' },
  });
  expect((await browser.get('/api/v1/me/sessions', { accept: 'application/json' })).body.items).toMatchObject(
    [{ method: 'loginLink' }],
  );
  expect(await open(url)).toMatchObject(spent);
  const events = await Event.findAll({ where: { kind: 'user.login_link.created' } });
  expect(events.map(({ subject }) => subject?.id)).toContain(account.id);
  const late = await linkFor(account.id);
  idctl.wait(601);
  expect(await open(late.url)).toMatchObject(spent);
});

test('O4 a link opened twice at once begins one session; a new one voids the last', async () => {
  const account = await person(idctl);
  const old = await linkFor(account.id);
  const { url } = await linkFor(account.id);
  expect(await open(old.url)).toMatchObject(spent);
  const answers = await Promise.all([open(url), open(url), open(url)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
});

test('P12 O4 the second factor is still asked, by the cookie, and the link is used up by then', async () => {
  const { account, code } = await enrolled(idctl);
  const { url } = await linkFor(account.id);
  const client = idctl.client({ keepCookies: true });
  expect(await open(url, client)).toMatchObject({ status: 401, body: { code: 'second_factor_required' } });
  expect(await open(url)).toMatchObject(spent);
  const done = await client.post('/api/v1/auth/second-factor', { totpCode: code() });
  expect(done).toMatchObject({ status: 200, body: { user: { id: account.id } } });
});

test('O4 a disabled account is let in by no link', async () => {
  const account = await person(idctl);
  const { url } = await linkFor(account.id);
  await disableUser(idctl.operator(), { user: account.id });
  expect((await open(url)).status).toBe(401);
  await expect(linkFor(account.id)).rejects.toMatchObject({ code: 'conflict' });
});
