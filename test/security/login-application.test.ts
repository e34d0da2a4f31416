import { afterAll, beforeAll, expect, test } from 'vitest';
import { fresh, password } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { open } from '../support/pages.ts';
import { application, walk } from '../support/relying-party.ts';
import { enrolOwn } from '../support/two-factor.ts';

// The attack: a link to the sign-in page names an organization's application. It shows the person
// a name that the sender chose, and lets the page's forms send to that application.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

const browser = () => idctl.client({ keepCookies: true });

/** An application with its own name and host. */
async function applicationAt(word: string) {
  const host = `${fresh(word)}.example.test`;
  const name = fresh(word);
  const redirectUri = `https://${host}/callback`;
  const app = await application(idctl, { name, redirectUris: [redirectUri] });
  const begin = async () => (await app.begin({ redirect_uri: redirectUri })).path;
  return { ...app, name, host, begin };
}

/** The sign-in page's address of an authorization that begins in this browser. */
async function signInPageOf(client: Client, path: string): Promise<string> {
  let location = path;
  for (let step = 0; step < 5 && !location.startsWith('/login'); step += 1)
    location = String((await client.get(location, { accept: 'text/html' })).headers['location']);
  return location;
}

async function shown(client: Client, path: string, { name, host }: { name: string; host: string }) {
  const page = await open(client, path);
  const policy = String(page.headers['content-security-policy']);
  return { named: page.text.includes(name), lets: policy.includes(host) };
}

const whole = { named: true, lets: true };
const nothing = { named: false, lets: false };

test('O10 X10 the sign-in page names an application, and lets forms send to it, only in the browser in which the authorization began', async () => {
  const app = await applicationAt('wiki');
  const own = browser();
  const path = await signInPageOf(own, await app.begin());
  expect(path).toContain(encodeURIComponent(app.clientId));
  expect(await shown(own, path, app)).toEqual(whole);
  expect(await shown(browser(), path, app)).toEqual(nothing);
  const other = browser();
  await open(other, '/login');
  expect(await shown(other, path, app)).toEqual(nothing);
});

test('O10 X10 a link that no authorization made does not name an application', async () => {
  const [app, rival] = [await applicationAt('wiki'), await applicationAt('rival')];
  const own = browser();
  const path = await signInPageOf(own, await rival.begin());
  const returnTo = new URL(path, idctl.baseUrl).searchParams.get('returnTo') ?? '';
  const forged = [
    `/oauth/authorize/x?client=${app.clientId}.0`,
    returnTo.replace(rival.clientId, app.clientId),
    returnTo
      .replace(/authorize\/[\w-]+/, 'authorize/another')
      .replace(rival.clientId, app.clientId),
  ];
  for (const one of forged)
    expect(await shown(own, `/login?${new URLSearchParams({ returnTo: one })}`, app)).toEqual(
      nothing,
    );
  const moved = returnTo.replace(/authorize\/[\w-]+/, 'authorize/another');
  expect(await shown(own, `/login?${new URLSearchParams({ returnTo: moved })}`, rival)).toEqual(
    nothing,
  );
});

test('O10 X10 two tabs of one browser each name their own application', async () => {
  const [wiki, board] = [await applicationAt('wiki'), await applicationAt('board')];
  const own = browser();
  const first = await signInPageOf(own, await wiki.begin());
  const second = await signInPageOf(own, await board.begin());
  expect(await shown(own, first, wiki)).toEqual(whole);
  expect(await shown(own, second, board)).toEqual(whole);
  expect(await shown(own, first, board)).toEqual(nothing);
});

test('O10 X10 the page for the second factor names the application too, only in that browser', async () => {
  const app = await applicationAt('wiki');
  const code = await enrolOwn(idctl, app.member);
  const own = browser();
  const path = await signInPageOf(own, await app.begin());
  const asked = await open(own, `${path}&identifier=${app.email}`);
  const page = await asked.submit('/login/password', { password });
  expect(page.text).toContain(app.name);
  expect(await shown(own, '/login/code', app)).toEqual(whole);
  const thief = browser();
  thief.jar.set('second_factor', own.jar.get('second_factor') ?? '');
  expect(await shown(thief, '/login/code', app)).toEqual(nothing);
  const done = await page.submit('/login/code', { totpCode: code() });
  expect(String(done.headers['location'])).toContain(app.host);
  expect(await walk(own, await app.begin())).toContain('code=');
});
