import { afterAll, beforeAll, expect, test } from 'vitest';
import { Event } from '../../src/database/models/event.ts';
import { disableUser } from '../../src/services/people/users/operations.ts';
import { createLoginLink } from '../../src/services/signin/methods/link.ts';
import { saveSignInSettings } from '../../src/services/tenancy/signin-settings/operations.ts';
import { organization, person, verifiedDomain } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type Opened, open } from '../support/pages.ts';
import { enrolled } from '../support/two-factor.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
  // With a second organization, each one governs only its own domains.
  await organization(idctl);
});
afterAll(() => idctl.close());

const linkFor = (user: string) => createLoginLink(idctl.operator(), { user });
const browser = () => idctl.client({ keepCookies: true });
const look = (url: string, client = browser()) => {
  const { pathname, search } = new URL(url);
  return open(client, pathname + search);
};
/** Opens the link and presses its button. */
const enter = async (url: string, client = browser()) =>
  (await look(url, client)).submit('/login/link');
const isIn = ({ status, text }: Opened) => status === 200 && text.includes('Sign out');
const spent = { status: 401, text: expect.stringContaining('has already been used') };

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
  const client = browser();
  expect(isIn(await enter(url, client))).toBe(true);
  expect((await client.get('/api/v1/me/sessions')).body.items).toMatchObject([
    { method: 'loginLink' },
  ]);
  expect(await look(url)).toMatchObject(spent);
  const events = await Event.findAll({ where: { kind: 'user.login_link.created' } });
  expect(events.map(({ subject }) => subject?.id)).toContain(account.id);
  const late = await linkFor(account.id);
  idctl.wait(601);
  expect(await look(late.url)).toMatchObject(spent);
});

test('O4 a mail scanner, a preview or a prefetch that opens the link does not use it up', async () => {
  const { id, email } = await person(idctl);
  const { url } = await linkFor(id);
  const path = url.slice(idctl.baseUrl.length);
  for (const headers of [
    {},
    { accept: '*/*' },
    { accept: 'application/json' },
    { accept: 'text/html', 'sec-purpose': 'prefetch', purpose: 'prefetch' },
  ]) {
    for (const method of ['HEAD', 'GET']) {
      const answer = await idctl.client().send(method, path, { headers });
      expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
      expect(answer.cookies.map(({ name }) => name)).toEqual(['form']);
    }
  }
  // Another site cannot submit the form, even in a browser that has opened the link.
  const client = browser();
  const shown = await look(url, client);
  expect(shown.text).toContain(`as ${email}`);
  const forged = { link: new URL(url).searchParams.get('token') ?? '' };
  expect((await client.form('/login/link', forged)).status).toBe(403);
  expect((await client.form('/login/link', forged, { origin: 'https://evil.test' })).status).toBe(
    403,
  );
  expect(isIn(await shown.submit('/login/link'))).toBe(true);
  const callback = await idctl.client().send('HEAD', '/auth/sso/callback');
  expect(callback).toMatchObject({ status: 405, headers: { allow: 'GET' } });
});

test('O4 a link used several times at once begins one session, and a new link invalidates the earlier link', async () => {
  const account = await person(idctl);
  const old = await linkFor(account.id);
  const { url } = await linkFor(account.id);
  expect(await look(old.url)).toMatchObject(spent);
  const looked = await Promise.all([look(url), look(url), look(url)]);
  const answers = await Promise.all(looked.map((page) => page.submit('/login/link')));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
});

test('P12 O4 a link still asks for the second factor, and is already spent when it asks', async () => {
  const { account, code } = await enrolled(idctl);
  const { url } = await linkFor(account.id);
  const asked = await enter(url);
  expect(asked.text).toContain('Second factor');
  expect(await look(url)).toMatchObject(spent);
  expect(isIn(await asked.submit('/login/code', { totpCode: code() }))).toBe(true);
});

test('O4 a link does not sign in a disabled account', async () => {
  const account = await person(idctl);
  const { url } = await linkFor(account.id);
  await disableUser(idctl.operator(), { user: account.id });
  expect(await look(url)).toMatchObject(spent);
  await expect(linkFor(account.id)).rejects.toMatchObject({ code: 'conflict' });
});
