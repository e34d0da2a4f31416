import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { showSso } from '../../src/services/tenancy/sso/operations.ts';
import { type Bind, startBind } from '../support/bind.ts';
import { type Browser, startBrowser } from '../support/browser.ts';
import { password } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { registration, signInAt } from '../support/sso.ts';
import { team } from '../support/team.ts';

// An owner makes a setup link in a real Chromium without scripts. A person without an account sets
// up sign-in with it, and a person of the organization signs in.

/** The folder for screenshots. If it is not set, the test takes none. */
const shots = process.env['IDCTL_TEST_SHOTS'];
const isMissing = counterpartMissing('chromium') || counterpartMissing('bind9');

describe.skipIf(dialect !== 'sqlite' || isMissing)('a setup link', () => {
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
  const look = { narrow: true, dark: false, script: false };

  test('O13 X10 an owner makes one, and a person without an account verifies a domain and connects a provider', async () => {
    const { org, people } = await team(idctl);
    const domain = `${org.slug}.acme.test`;
    const owner = await browser.open(look);
    const seen = async (page: Page, of: string) => {
      const [wide, shown] = await page.evaluate<[number, number]>(
        '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
      );
      expect([of, wide]).toEqual([of, shown]);
      if (shots) await page.screenshot({ path: `${shots}/setup-link-${of}.png`, fullPage: true });
    };
    await owner.page.goto(`${idctl.baseUrl}/orgs/${org.slug}/sign-in`);
    await owner.page.getByLabel('E-mail address or company domain').fill(people.owner.email);
    await owner.page.keyboard.press('Enter');
    await owner.page.getByLabel('Password').fill(password);
    await owner.page.keyboard.press('Enter');
    await link(owner.page, 'Setup links').click();
    await heading(owner.page, `Setup links of ${org.name}`);
    await owner.page.getByLabel('e-mail domains').check();
    await owner.page.getByLabel('single sign-on').check();
    await owner.page.getByLabel('E-mail address').fill('it@vendor.test');
    await seen(owner.page, 'create');
    await button(owner.page, 'Create link').click();
    const url = await owner.page.locator('code.secret').innerText();
    await seen(owner.page, 'made');

    const { page, complaints, foreign } = await browser.open(look);
    await page.goto(url);
    await heading(page, `Set up sign-in for ${org.name}`);
    await seen(page, 'entry');
    await button(page, 'Start in this browser').click();
    await page.getByLabel('Your e-mail domain').fill(domain);
    await page.keyboard.press('Enter');
    await page.getByText('The domain was added.').waitFor();
    await button(page, 'Check now').click();
    await page.getByRole('alert').waitFor();
    const record = await page.locator('code.secret', { hasText: 'svc-verify=' }).innerText();
    await bind.publishTxt(domain, record);
    await button(page, 'Check now').click();
    await page.getByText('The domain is verified.').waitFor();
    await seen(page, 'overview');
    await link(page, 'Connect').click();
    await link(page, 'OpenID Connect').click();
    await link(page, 'Another provider').click();
    await page.getByLabel('Issuer URL').fill(provider.issuer);
    await page.getByLabel('Client ID').fill(registration.clientId);
    await page.getByLabel('Client secret').fill(registration.clientSecret);
    await button(page, 'Save').click();
    await page.getByText('The connection was saved.').waitFor();
    await button(page, 'Test').click();
    await page.getByText('Test', { exact: true }).first().waitFor();
    await button(page, 'Switch on').click();
    const anyway = button(page, 'Switch on anyway');
    const on = page.getByText('The connection is on.');
    await anyway.or(on).first().waitFor();
    if (await anyway.isVisible()) await anyway.click();
    await on.waitFor();
    await seen(page, 'on');
    await link(page, 'I am done').click();
    await heading(page, 'Are you done?');
    await seen(page, 'done');
    await button(page, 'Finish').click();
    await heading(page, 'Thank you');
    await page.goto(`${idctl.baseUrl}/setup`);
    await page.getByText('invalid or has expired').waitFor();
    expect([complaints, foreign]).toEqual([[], []]);

    expect(await showSso(idctl.operator(), { org: org.slug })).toMatchObject({
      enabled: true,
      approved: false,
      changedBy: { kind: 'setupLink', name: 'it@vendor.test' },
    });
    const email = `grace@${domain}`;
    provider.people.set('grace', { email, email_verified: true, name: 'Grace Hopper' });
    const { answer } = await signInAt(idctl, provider, domain, 'grace');
    expect(answer.status).toBe(200);
    await owner.page.goto(`${idctl.baseUrl}/`);
    await owner.page.getByText('it@vendor.test').first().waitFor();
  });
});
