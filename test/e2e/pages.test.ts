import { generateSync } from 'otplib';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createLoginLink } from '../../src/services/signin/methods/link.ts';
import { createInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { type Browser, startBrowser, type Window } from '../support/browser.ts';
import { fresh, organization, password, person } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { connected, registration } from '../support/sso.ts';

// As behind a proxy, idctl listens at another address. The browser maps this host to it.
const base = 'http://id.localhost';

// Tests the pages in a real Chromium, on SQLite only: nothing in the tests depends on the database.

describe.skipIf(dialect !== 'sqlite' || counterpartMissing('chromium'))(
  '§5.4 the screens in a real Chromium',
  () => {
    let idctl: MailingIdctl;
    let provider: OpenIdProvider;
    let browser: Browser;
    const opened: Window[] = [];

    beforeAll(async () => {
      const { clientId, clientSecret } = registration;
      provider = await startOpenIdProvider({
        clients: ['/auth/sso/callback', '/auth/social/google/callback'].map((path, at) => ({
          client_id: at === 0 ? clientId : 'social',
          client_secret: clientSecret,
          redirect_uris: [base + path],
        })),
      });
      idctl = await openMailingIdctl({
        baseUrl: base,
        outbound: { allow: ['127.0.0.1'] },
        signup: { open: 'on' },
        signin: { magicCode: 'on' },
        social: { google: { clientId: 'social', clientSecret, issuer: provider.issuer } },
        http: { returnToOrigins: [provider.issuer] },
      });
      browser = await startBrowser([base, provider.issuer], idctl.baseUrl);
    });
    afterAll(async () => {
      await browser?.close();
      await idctl?.close();
      await provider?.stop();
    });
    afterEach(async () => {
      for (const { page, complaints, foreign } of opened.splice(0)) {
        await page.context().close();
        expect([complaints, foreign]).toEqual([[], []]);
      }
    });

    /** Opens a window at the sign-in page. */
    async function arrive(script: boolean, atProvider = '') {
      const window = await browser.open({ script });
      opened.push(window);
      await window.page.context().setExtraHTTPHeaders({ 'x-sign-in-as': atProvider });
      await window.page.goto(`${base}/`);
      return window.page;
    }

    /** Enters an address or a domain on the sign-in page. */
    async function present(page: Page, who: string) {
      await page.getByLabel('E-mail address or company domain').fill(who);
      await page.keyboard.press('Enter');
    }

    /** Enters a password on its page. */
    async function enterPassword(page: Page, given = password) {
      await page.getByLabel('Password').fill(given);
      await page.keyboard.press('Enter');
    }

    async function enterCode(page: Page, code: string) {
      await page.getByLabel(/Six-digit code/).fill(code);
      await page.keyboard.press('Enter');
    }

    const told = (page: Page, role: 'alert' | 'status') =>
      expect.poll(() => page.getByRole(role).innerText(), see);
    const greeted = (page: Page, name: string) =>
      page.getByRole('heading', { name, exact: true }).waitFor();
    const see = { timeout: 20_000 };

    describe.each([
      ['with script', true],
      ['without script', false],
    ])('%s', (_name, script) => {
      test('a wrong password is refused, the right one signs in, and the button signs out', async () => {
        const { email } = await person(idctl);
        const page = await arrive(script);
        await present(page, email ?? '');
        await enterPassword(page, 'not the password');
        await told(page, 'alert').toContain('Wrong e-mail or password.');
        await enterPassword(page);
        await greeted(page, 'Ada Byron');
        expect(page.url()).toBe(`${base}/`);
        await page.getByRole('button', { name: 'Sign out' }).click();
        await told(page, 'status').toBe('You are signed out.');
      });

      test('§3.4 a person sets up an authenticator with the secret that the page shows, and the next sign-in asks for a code', async () => {
        const { email } = await person(idctl);
        const page = await arrive(script);
        await present(page, email ?? '');
        await enterPassword(page);
        await page.getByRole('button', { name: 'Set up an authenticator' }).click();
        expect(await page.getByRole('img', { name: /QR code/ }).isVisible()).toBe(true);
        const secret = (await page.locator('code').innerText()).replaceAll(/\s/g, '');
        const code = (ahead: number) =>
          generateSync({ secret, epoch: Math.floor(Date.now() / 1000) + ahead });
        await enterCode(page, '000000');
        await told(page, 'alert').toContain('This code is wrong');
        await enterCode(page, code(0).replace(/^.../, '$& '));
        await told(page, 'status').toBe('Two-factor authentication is on.');
        await page.getByLabel('I have stored them').check();
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.getByRole('status').waitFor();
        await present(page, email ?? '');
        await enterPassword(page);
        await page.waitForURL(`${base}/login/code`);
        expect(await page.content()).not.toContain(password);
        await enterCode(page, '000000');
        await told(page, 'alert').toContain('This code is wrong');
        await enterCode(page, code(30));
        await greeted(page, 'Ada Byron');
      });

      test('§5.4 a company domain leads to the company’s provider, and from there to the account page', async () => {
        const { domain } = await connected(idctl, provider.issuer);
        provider.people.set('grace', {
          email: `grace@${domain}`,
          email_verified: true,
          name: 'Grace Hopper',
        });
        const page = await arrive(script, 'grace');
        await present(page, domain);
        await greeted(page, 'Grace Hopper');
        expect(await page.getByText('with single sign-on').count()).toBe(1);
      });

      test('a company address leads to the company’s provider, and a refused person returns to a page with an error', async () => {
        const { domain } = await connected(idctl, provider.issuer);
        provider.people.set('mallory', { email: 'mallory@elsewhere.test', email_verified: true });
        const page = await arrive(script, 'mallory');
        await present(page, `ada@${domain}`);
        await page.getByRole('link', { name: 'Continue with single sign-on' }).click();
        await told(page, 'alert').toContain('You could not be signed in.');
      });

      test('§5.4 the sign-in page offers a social provider at once, which signs in without an idctl password', async () => {
        const sub = fresh('linus');
        provider.people.set(sub, {
          email: `${sub}@example.test`,
          email_verified: true,
          name: 'Linus',
        });
        const page = await arrive(script, sub);
        await page.getByRole('link', { name: 'Continue with Google' }).click();
        await greeted(page, 'Linus');
      });

      test('§2.9 a code by mail signs in, a wrong one does not', async () => {
        const { email = '' } = await person(idctl);
        const page = await arrive(script);
        await present(page, email ?? '');
        await page.getByRole('button', { name: 'Send me a code by mail' }).click();
        await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
        const code = await idctl.codeFor(email ?? '');
        await enterCode(page, code === '111111' ? '222222' : '111111');
        await told(page, 'alert').toContain('This code is wrong');
        await enterCode(page, code);
        await greeted(page, 'Ada Byron');
      });

      test('§4.4 a person signs up, confirms the address with the mailed code, and is signed in', async () => {
        const email = `${fresh('new')}@example.test`;
        const page = await arrive(script);
        await page.getByRole('link', { name: 'Create an account' }).click();
        await page.getByLabel('Name').fill('Katherine Johnson');
        await page.getByLabel('E-mail address').fill(email);
        await page.getByLabel('Password').fill('short');
        await page.keyboard.press('Enter');
        await told(page, 'alert').toContain('Password must have 8 to 128 characters');
        expect(await page.getByLabel('Name').inputValue()).toBe('Katherine Johnson');
        await enterPassword(page);
        await page.getByRole('heading', { name: 'Confirm your address' }).waitFor();
        await idctl.deliver();
        await enterCode(page, await idctl.codeFor(email));
        await greeted(page, 'Katherine Johnson');
      });

      test('a forgotten password is replaced with a mailed code', async () => {
        const { email } = await person(idctl);
        const page = await arrive(script);
        await present(page, email ?? '');
        await page.getByRole('link', { name: 'Forgot password?' }).click();
        await page.getByRole('button', { name: 'Send me a code' }).click();
        await page.getByLabel(/Six-digit code/).fill(await idctl.codeFor(email ?? ''));
        await page.getByLabel('New password').fill('a staple of another kind');
        await page.keyboard.press('Enter');
        await told(page, 'status').toContain('Your password was changed');
        // The page still knows the address.
        await enterPassword(page, 'a staple of another kind');
        await greeted(page, 'Ada Byron');
      });

      test('a person signs in with the invited address and accepts the invitation', async () => {
        const org = await organization(idctl);
        const { email } = await person(idctl);
        const input = { org: org.slug, email: email ?? '', role: 'member' as const };
        const { url } = await createInvitation(idctl.operator(), input);
        const page = await arrive(script);
        await page.goto(url);
        await page.getByRole('link', { name: 'Sign in to accept' }).click();
        await enterPassword(page);
        await page.getByRole('button', { name: `Join ${org.name}` }).click();
        await told(page, 'status').toBe('You have joined the organization.');
        const organizations = page.getByRole('region', { name: 'Organizations' });
        expect(await organizations.getByText(org.name).count()).toBe(1);
      });

      test('O4 the button of the operator’s link signs in, and an unknown page links back to the start', async () => {
        const { id } = await person(idctl);
        const { url } = await createLoginLink(idctl.operator(), { user: id });
        const page = await arrive(script);
        await page.goto(url);
        await page.reload();
        await page.getByRole('button', { name: 'Sign in' }).click();
        await greeted(page, 'Ada Byron');
        await page.goto(`${base}/acount`);
        await page.getByRole('heading', { name: 'Page not found', exact: true }).waitFor();
        await page.getByRole('link', { name: 'Back to start' }).click();
        await greeted(page, 'Ada Byron');
      });

      test('§5.2 an expired access token is renewed without the person noticing, in a form too', async () => {
        const { email } = await person(idctl);
        const page = await arrive(script);
        await present(page, email ?? '');
        await enterPassword(page);
        await greeted(page, 'Ada Byron');
        const expire = () => page.context().clearCookies({ name: 'access_token' });
        await expire();
        await page.reload();
        await greeted(page, 'Ada Byron');
        await page.getByLabel('Language').fill('de-AT');
        await expire();
        await page.getByRole('button', { name: 'Save' }).click();
        await told(page, 'status').toBe('Your profile was saved.');
        expect(await page.getByLabel('Language').inputValue()).toBe('de-AT');
      });

      test('a person creates a token, which the page shows once, and revokes it', async () => {
        const { email } = await person(idctl);
        const page = await arrive(script);
        await present(page, email ?? '');
        await enterPassword(page);
        await page.getByText('Create a token').click();
        await page.locator('#token-name').fill('backups');
        await page.getByLabel('Days until it expires').fill('30');
        await page.getByRole('button', { name: 'Create token' }).click();
        const token = await page.locator('code').innerText();
        const me = await idctl
          .client({ headers: { authorization: `Bearer ${token}` } })
          .get('/api/v1/me');
        expect([me.status, me.body.email]).toEqual([200, email]);
        await page.getByRole('link', { name: 'I have copied it' }).click();
        await page.getByText('Change', { exact: true }).click();
        expect(await page.content()).not.toContain(token);
        await page.getByRole('link', { name: 'Revoke' }).click();
        await page.getByRole('link', { name: 'Cancel' }).click();
        await page.getByText('Change', { exact: true }).click();
        await page.getByRole('link', { name: 'Revoke' }).click();
        await page.getByRole('button', { name: 'Revoke token' }).click();
        await told(page, 'status').toBe('The token was revoked.');
      });

      test('X10 S7 the CSP allows a sign-in to redirect to a configured origin', async () => {
        const { email } = await person(idctl);
        const page = await arrive(script);
        const returnTo = `${provider.issuer}/.well-known/openid-configuration`;
        await page.goto(
          `${base}/login?${new URLSearchParams({ identifier: email ?? '', returnTo })}`,
        );
        await enterPassword(page);
        await page.waitForURL(returnTo);
      });
    });

    test('X10 the browser of these tests reports a CSP violation and a request to another origin', async () => {
      const { page, complaints, foreign } = await browser.open();
      await page.goto(`${base}/login`);
      await page.evaluate(
        'document.body.innerHTML = `<p style="color: red">x</p><img src="http://127.0.0.2:1/x.png">`',
      );
      await expect.poll(() => complaints.length, see).toBeGreaterThanOrEqual(2);
      await page
        .goto(`${provider.issuer.replace('127.0.0.1', 'localhost')}/`)
        .catch(() => undefined);
      expect(foreign).not.toEqual([]);
    });
  },
);
