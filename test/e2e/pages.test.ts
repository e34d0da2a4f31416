import { generateSync } from 'otplib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Browser, startBrowser, type Window } from '../support/browser.ts';
import { password, person } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { connected, registration } from '../support/sso.ts';

// What a person sees, in a real Chromium. Nothing of it depends on the database, so one is enough.

describe.skipIf(dialect !== 'sqlite' || counterpartMissing('chromium'))(
  '§5.4 the screens in a real Chromium',
  () => {
    let idctl: Idctl;
    let provider: OpenIdProvider;
    let browser: Browser;
    const opened: Window[] = [];

    beforeAll(async () => {
      idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
      const { clientId: client_id, clientSecret: client_secret } = registration;
      const redirect_uris = [`${idctl.baseUrl}/auth/sso/callback`];
      provider = await startOpenIdProvider({ clients: [{ client_id, client_secret, redirect_uris }] });
      browser = await startBrowser(idctl.baseUrl, provider.issuer);
    });
    afterAll(async () => {
      await browser?.close();
      await idctl?.close();
      await provider?.stop();
    });
    afterEach(() => {
      for (const { complaints, foreign } of opened.splice(0)) expect([complaints, foreign]).toEqual([[], []]);
    });

    /** A window at the sign-in screen. */
    async function arrive(script: boolean) {
      const window = await browser.open({ script });
      opened.push(window);
      await window.page.goto(`${idctl.baseUrl}/`);
      return window.page;
    }

    const see = { timeout: 20_000 };

    describe.each([
      ['with script', true],
      ['without script', false],
    ])('%s', (_name, script) => {
      test('a wrong password is told, the right one signs in, and signing out is that', async () => {
        const { email } = await person(idctl);
        const page = await arrive(script);
        await page.getByLabel('E-mail address or company domain').fill(email ?? '');
        await page.keyboard.press('Enter');
        await page.getByLabel('Password').fill('not the password');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await expect
          .poll(() => page.getByRole('alert').innerText(), see)
          .toContain('The sign-in did not succeed.');
        await page.getByLabel('Password').fill(password);
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Ada Byron' }).waitFor();
        expect(page.url()).toBe(`${idctl.baseUrl}/`);
        await page.getByRole('button', { name: 'Sign out' }).click();
        await expect.poll(() => page.getByRole('status').innerText(), see).toBe('You are signed out.');
      });

      test('§3.4 an authenticator is set up by the QR’s secret, and asked for at the next sign-in', async () => {
        const { email } = await person(idctl);
        const page = await arrive(script);
        const enter = async () => {
          await page.getByLabel('E-mail address or company domain').fill(email ?? '');
          await page.keyboard.press('Enter');
          await page.getByLabel('Password').fill(password);
          await page.keyboard.press('Enter');
        };
        const code = async (value: string) => {
          await page.getByLabel(/Six-digit code/).fill(value);
          await page.keyboard.press('Enter');
        };
        await enter();
        await page.getByRole('button', { name: 'Set up an authenticator' }).click();
        expect(await page.getByRole('img', { name: /QR code/ }).isVisible()).toBe(true);
        const secret = (await page.locator('code').innerText()).replaceAll(/\s/g, '');
        await code('000000');
        await expect.poll(() => page.getByRole('alert').innerText(), see).toContain('The code is not right');
        await code(generateSync({ secret, epoch: soon(0) }));
        await expect
          .poll(() => page.getByRole('status').innerText(), see)
          .toBe('Two-factor authentication is on.');
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.getByRole('status').waitFor();
        await enter();
        await page.waitForURL(`${idctl.baseUrl}/login/code`);
        expect(await page.content()).not.toContain(password);
        await code('000000');
        await expect.poll(() => page.getByRole('alert').innerText(), see).toContain('The code is not right');
        await code(generateSync({ secret, epoch: soon(30) }));
        await page.getByRole('heading', { name: 'Ada Byron' }).waitFor();
      });

      test('a company’s domain leads to its provider by itself, and back into the account', async () => {
        const { domain } = await connected(idctl, provider.issuer);
        provider.people.set('grace', {
          email: `grace@${domain}`,
          email_verified: true,
          name: 'Grace Hopper',
        });
        const page = await arrive(script);
        await page.context().setExtraHTTPHeaders({ 'x-sign-in-as': 'grace' });
        await page.getByLabel('E-mail address or company domain').fill(domain);
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Grace Hopper' }).waitFor();
        expect(await page.getByText('by single sign-on').count()).toBe(1);
      });

      test('an address of the company is shown the way to its provider, whose refusal is told on the screen', async () => {
        const { domain } = await connected(idctl, provider.issuer);
        provider.people.set('mallory', { email: 'mallory@elsewhere.test', email_verified: true });
        const page = await arrive(script);
        await page.context().setExtraHTTPHeaders({ 'x-sign-in-as': 'mallory' });
        await page.getByLabel('E-mail address or company domain').fill(`ada@${domain}`);
        await page.keyboard.press('Enter');
        await page.getByRole('link', { name: 'Continue with single sign-on' }).click();
        await expect
          .poll(() => page.getByRole('alert').innerText(), see)
          .toContain('The sign-in did not succeed.');
      });

      test('§5.2 an access token that expired is renewed without anybody noticing, in a form too', async () => {
        const { email } = await person(idctl);
        const page = await arrive(script);
        await page.getByLabel('E-mail address or company domain').fill(email ?? '');
        await page.keyboard.press('Enter');
        await page.getByLabel('Password').fill(password);
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Ada Byron' }).waitFor();
        const expire = () => page.context().clearCookies({ name: 'access_token' });
        await expire();
        await page.reload();
        await page.getByRole('heading', { name: 'Ada Byron' }).waitFor();
        await page.locator('input[name=locale]').fill('de-AT');
        await expire();
        await page.getByRole('button', { name: 'Save' }).click();
        await expect.poll(() => page.getByRole('status').innerText(), see).toBe('Your profile was saved.');
        expect(await page.locator('input[name=locale]').inputValue()).toBe('de-AT');
      });

      test('a token is shown once, and revoked', async () => {
        const { email } = await person(idctl);
        const page = await arrive(script);
        await page.getByLabel('E-mail address or company domain').fill(email ?? '');
        await page.keyboard.press('Enter');
        await page.getByLabel('Password').fill(password);
        await page.keyboard.press('Enter');
        await page.getByText('Create a token').click();
        await page.locator('#token-name').fill('backups');
        await page.getByLabel('Days until it ends').fill('30');
        await page.getByRole('button', { name: 'Create token' }).click();
        const token = await page.locator('code').innerText();
        const me = await idctl.client({ headers: { authorization: `Bearer ${token}` } }).get('/api/v1/me');
        expect([me.status, me.body.email]).toEqual([200, email]);
        await page.getByRole('link', { name: 'I have copied it' }).click();
        expect(await page.content()).not.toContain(token);
        await page.getByText('Change', { exact: true }).click();
        await page.getByRole('button', { name: 'Revoke' }).click();
        await expect.poll(() => page.getByRole('status').innerText(), see).toBe('The token was revoked.');
      });
    });

    test('a broken policy and a foreign request would be seen', async () => {
      const { page, complaints, foreign } = await browser.open();
      await page.goto(`${idctl.baseUrl}/login`);
      await page.evaluate(
        'document.body.innerHTML = `<p style="color: red">x</p><img src="http://127.0.0.2:1/x.png">`',
      );
      await expect.poll(() => complaints.length, see).toBeGreaterThanOrEqual(2);
      await page.goto(`${provider.issuer.replace('127.0.0.1', 'localhost')}/`).catch(() => undefined);
      expect(foreign).not.toEqual([]);
    });
  },
);

/** A moment in the present step of TOTP or in the next, in seconds. */
function soon(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}
