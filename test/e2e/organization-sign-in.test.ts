import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bind, startBind } from '../support/bind.ts';
import { type Browser, startBrowser } from '../support/browser.ts';
import { organization, password } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { registration, signInAt } from '../support/sso.ts';

// An owner connects a domain and a provider in a real Chromium, without a terminal, and a person
// signs in through it.

/** The folder for screenshots. If it is not set, the tests take none. */
const shots = process.env['IDCTL_TEST_SHOTS'];
const looks = [
  { name: 'wide-light-plain', narrow: false, dark: false, script: false },
  { name: 'narrow-dark-script', narrow: true, dark: true, script: true },
];
const isMissing = counterpartMissing('chromium') || counterpartMissing('bind9');

describe.skipIf(dialect !== 'sqlite' || isMissing)('the sign-in of an organization', () => {
  let idctl: Idctl;
  let browser: Browser;
  let bind: Bind;
  let provider: OpenIdProvider;
  beforeAll(async () => {
    bind = await startBind('acme.test');
    const { resolverUrl, caFile } = bind;
    idctl = await openIdctl({
      limits: { enabled: 'off' },
      outbound: { allow: ['127.0.0.1'] },
      doh: { resolverUrl, caFile },
    });
    const { clientId: client_id, clientSecret: client_secret } = registration;
    const redirect_uris = [`${idctl.baseUrl}/auth/sso/callback`];
    provider = await startOpenIdProvider({
      clients: [{ client_id, client_secret, redirect_uris }],
    });
    browser = await startBrowser([idctl.baseUrl]);
    if (shots) mkdirSync(shots, { recursive: true });
  });
  afterAll(async () => {
    await browser?.close();
    await provider?.stop();
    await idctl?.close();
    await bind?.stop();
  });

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });
  const heading = (page: Page, name: string | RegExp) =>
    page.getByRole('heading', { level: 1, name }).waitFor();

  test.each(looks)(
    'X10 an owner verifies a domain and connects a provider: $name',
    async ({ name, ...look }) => {
      const org = await organization(idctl);
      const domain = `${org.slug}.acme.test`;
      const { page, complaints, foreign } = await browser.open(look);
      const seen = async (of: string) => {
        expect([of, (await page.content()).length < 60 * 1024]).toEqual([of, true]);
        const [wide, shown] = await page.evaluate<[number, number]>(
          '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
        );
        expect([of, wide]).toEqual([of, shown]);
        const path = `${shots}/sign-in-${of}-${name}.png`;
        if (shots) await page.screenshot({ path, fullPage: true });
      };
      await page.goto(`${idctl.baseUrl}/orgs/${org.slug}`);
      await page.getByLabel('E-mail address or company domain').fill(org.owner.email ?? '');
      await page.keyboard.press('Enter');
      await page.getByLabel('Password').fill(password);
      await page.keyboard.press('Enter');
      await heading(page, org.name);
      await link(page, 'Add a domain').click();
      await heading(page, `Sign-in to ${org.name}`);

      await page.getByLabel('Your e-mail domain').fill(domain);
      await page.keyboard.press('Enter');
      await page.getByText('The domain was added.').waitFor();
      await button(page, 'Check now').click();
      await page.getByRole('alert').waitFor();
      await seen('not-verified');
      const record = await page.locator('code.secret', { hasText: 'svc-verify=' }).innerText();
      await bind.publishTxt(domain, record);
      await button(page, 'Check now').click();
      await page.getByText('The domain is verified.').waitFor();
      await seen('overview');

      await link(page, 'Connect').first().click();
      await heading(page, 'Connect your provider');
      await seen('protocol');
      await link(page, 'OpenID Connect').click();
      await heading(page, 'Connect by OpenID Connect');
      await seen('choose');
      await link(page, 'Microsoft Entra ID').click();
      await heading(page, 'Connect Microsoft Entra ID');
      await page.getByLabel('Directory (tenant) ID').fill('common');
      await page.getByLabel('Client ID').fill('idctl');
      await page.getByLabel('Client secret').fill('s');
      await button(page, 'Save').click();
      await page.getByRole('alert').waitFor();
      await seen('entra-refused');
      await link(page, 'Back').click();
      await link(page, 'Another provider').click();
      await page.getByLabel('Issuer URL').fill(provider.issuer);
      await page.getByLabel('Client ID').fill(registration.clientId);
      await page.getByLabel('Client secret').fill('wrong');
      await seen('steps');
      await button(page, 'Save').click();
      await page.getByText('The connection was saved.').waitFor();
      await button(page, 'Switch on').click();
      await button(page, 'Switch on anyway').waitFor();
      await seen('failed');
      await link(page, 'Change').click();
      await page.getByLabel('Client secret').fill(registration.clientSecret);
      await button(page, 'Save').click();
      await button(page, 'Test').click();
      await page.getByText('All checks passed.').waitFor();
      await seen('tested');
      await button(page, 'Switch on').click();
      await page.getByText('The connection is on.').waitFor();

      const email = `${name}@${domain}`;
      provider.people.set(name, { email, email_verified: true, name: 'Grace Hopper' });
      await signInAt(idctl, provider, domain, name);
      await page.reload();
      await page.getByText(email).waitFor();
      await seen('on');
      await link(page, 'Switch off').click();
      await page.getByText('1 person signs in through it.').waitFor();
      await seen('switch-off');
      await button(page, 'Switch off').click();
      await page.getByText('The connection is off.').waitFor();

      await link(page, 'All ways to sign in').click();
      await link(page, 'Connect').click();
      await heading(page, 'Connect your directory');
      await seen('directory');
      await page.context().close();
      expect([complaints, foreign]).toEqual([[], []]);
    },
  );
});
