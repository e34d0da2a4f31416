import { afterAll, beforeAll, expect, test } from 'vitest';
import { fresh, password, person } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { open } from '../support/pages.ts';

// Applications and logs see access tokens. One that has expired must not end its owner's session.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ signup: { open: 'on' } });
});
afterAll(() => idctl?.close());

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Signs a person in with a browser. */
async function victim() {
  const { email } = await person(idctl);
  const browser = idctl.client({ keepCookies: true });
  const answer = await browser.post('/api/v1/auth/login', { email, password });
  return { email, browser, accessToken: String(answer.body.accessToken) };
}

const signIns: Record<string, (thief: Client, email: string | null) => Promise<unknown>> = {
  'a sign-in by REST': (thief, email) => thief.post('/api/v1/auth/login', { email, password }),
  'a sign-up': (thief) =>
    thief.post('/api/v1/auth/signup', {
      ...{ email: `${fresh('new')}@example.test`, password, name: 'Mallory' },
    }),
  'a sign-in on the pages': async (thief, email) => {
    const page = await open(thief, `/login?identifier=${email}`);
    await page.submit('/login/password', { password });
  },
};

test.each(Object.entries(signIns))(
  'P1 %s does not end a session by an expired access token',
  async (_, signIn) => {
    const { browser, accessToken } = await victim();
    const { email } = await person(idctl);
    const thief = idctl.client({ keepCookies: true });
    thief.jar.set('access_token', accessToken);
    idctl.wait(16 * 60);
    await signIn(thief, email);
    expect((await browser.post('/api/v1/auth/refresh')).status).toBe(200);
    expect((await thief.get('/api/v1/me')).status).toBe(200);
  },
);

test('P1 the name of a session does not give access, and only a name that idctl wrote ends a session', async () => {
  const { browser, accessToken } = await victim();
  const { email } = await person(idctl);
  const name = browser.jar.get('session_name') ?? '';
  const sid = String((await browser.get('/api/v1/me/sessions')).body.items[0].id);
  const thief = idctl.client({ keepCookies: true });
  for (const forged of [
    sid,
    `${Buffer.from(JSON.stringify({ sessionId: sid })).toString('base64url')}.x`,
  ]) {
    thief.jar.set('session_name', forged);
    expect((await thief.post('/api/v1/auth/login', { email, password })).status).toBe(200);
    expect((await idctl.client().get('/api/v1/me', bearer(accessToken))).status).toBe(200);
  }
  const named = { cookie: `session_name=${name}` };
  expect((await idctl.client().get('/api/v1/me', named)).status).toBe(401);
  expect((await idctl.client().post('/api/v1/auth/refresh', undefined, named)).status).toBe(401);
  expect((await idctl.client().get('/api/v1/me', bearer(name))).status).toBe(401);
});

test('the next sign-in of a browser whose access token has expired ends its earlier session', async () => {
  const { email, browser } = await victim();
  const renewal = browser.jar.get('refresh_token');
  // Browsers send this cookie only to its own path.
  browser.jar.delete('refresh_token');
  idctl.wait(16 * 60);
  const page = await open(browser, `/login?identifier=${email}`);
  await page.submit('/login/password', { password });
  const { status } = await idctl.client().post('/api/v1/auth/refresh', { refreshToken: renewal });
  expect(status).toBe(401);
  expect((await browser.get('/api/v1/me')).status).toBe(200);
});
