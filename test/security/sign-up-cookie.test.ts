import { afterAll, beforeAll, expect, test } from 'vitest';
import { fresh, password } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { open } from '../support/pages.ts';

let idctl: MailingIdctl;
beforeAll(async () => {
  // The base URL is https, as behind a proxy that terminates TLS.
  idctl = await openMailingIdctl({ baseUrl: 'https://id.example.test', signup: { open: 'on' } });
});
afterAll(() => idctl?.close());

/** Signs up in a browser, and returns the cookie that proves the sign-up. */
async function signUp(client: Client, email: string) {
  const answer = await client.post('/api/v1/auth/signup', { email, password, name: 'Ada Byron' });
  return answer.cookies[0] ?? { name: '', value: '' };
}

/** Whether the password of the sign-ups still signs in. */
async function isKept(email: string): Promise<boolean> {
  return (await idctl.client().post('/api/v1/auth/login', { email, password })).status === 200;
}

test('P11 if the base URL is https, neither another host nor plain http can plant the cookie of a sign-up', async () => {
  const [own, squatted] = [`${fresh('ada')}@example.test`, `${fresh('victim')}@example.test`];
  const [browser, victim] = [
    idctl.client({ keepCookies: true }),
    idctl.client({ keepCookies: true }),
  ];
  await signUp(idctl.client(), own);
  await idctl.deliver();
  const cookie = await signUp(browser, own);
  expect(cookie).toMatchObject({ name: '__Host-sign_up', path: '/', secure: true, httpOnly: true });
  expect(cookie).not.toHaveProperty('domain');
  const code = await idctl.codeFor(own);
  expect((await browser.post('/api/v1/auth/verify-email', { email: own, code })).status).toBe(200);

  const { value = '' } = await signUp(idctl.client(), squatted);
  victim.jar.set('sign_up', value);
  const screen = await open(
    victim,
    `/login/verify?${new URLSearchParams({ identifier: squatted })}`,
  );
  const confirmed = await screen.submit('/login/verify', { code: await idctl.codeFor(squatted) });
  expect(confirmed.text).toContain('you are signed in');
  expect([await isKept(own), await isKept(squatted)]).toEqual([true, false]);
});
