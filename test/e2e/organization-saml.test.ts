import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browser, startBrowser } from '../support/browser.ts';
import { organization, password, verifiedDomain } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { providerMetadata } from '../support/saml.ts';
import { samlProvider } from '../support/saml-provider.ts';

// An owner connects a SAML provider in a real Chromium, without a terminal.

/** The folder for screenshots. If it is not set, the tests take none. */
const shots = process.env['IDCTL_TEST_SHOTS'];
const looks = [
  { name: 'wide-light-plain', narrow: false, dark: false, script: false },
  { name: 'narrow-dark-script', narrow: true, dark: true, script: true },
];

describe.skipIf(dialect !== 'sqlite' || counterpartMissing('chromium'))('a SAML provider', () => {
  let idctl: Idctl;
  let browser: Browser;
  beforeAll(async () => {
    idctl = await openIdctl({ limits: { enabled: 'off' }, outbound: { allow: ['127.0.0.1'] } });
    browser = await startBrowser([idctl.baseUrl]);
    if (shots) mkdirSync(shots, { recursive: true });
  });
  afterAll(async () => {
    await browser?.close();
    await idctl?.close();
  });

  test.each(looks)('X10 an owner connects a provider by SAML: $name', async ({ name, ...look }) => {
    const org = await organization(idctl);
    await verifiedDomain(idctl, org.slug);
    const { page, complaints, foreign } = await browser.open(look);
    const button = (label: string) => page.getByRole('button', { name: label, exact: true });
    const link = (label: string) => page.getByRole('link', { name: label, exact: true });
    const heading = (label: string) =>
      page.getByRole('heading', { level: 1, name: label }).waitFor();
    const seen = async (of: string) => {
      expect([of, (await page.content()).length < 60 * 1024]).toEqual([of, true]);
      const [wide, shown] = await page.evaluate<[number, number]>(
        '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
      );
      expect([of, wide]).toEqual([of, shown]);
      if (shots) await page.screenshot({ path: `${shots}/saml-${of}-${name}.png`, fullPage: true });
    };
    await page.goto(`${idctl.baseUrl}/orgs/${org.slug}/sign-in`);
    await page.getByLabel('E-mail address or company domain').fill(org.owner.email ?? '');
    await page.keyboard.press('Enter');
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await heading(`Sign-in to ${org.name}`);
    await link('Connect').first().click();
    await heading('Connect your provider');
    await seen('protocol');
    await link('SAML').click();
    await heading('Connect by SAML');
    await seen('choose');
    await link('AD FS').click();
    await heading('Connect AD FS');
    const own = `${idctl.baseUrl}/auth/saml/${org.id}`;
    for (const value of [`${own}/metadata`, `${own}/acs`])
      await page.locator('code.secret', { hasText: value }).first().waitFor();
    const typed = '<not-metadata/>';
    await page.getByLabel('Metadata as text').fill(typed);
    await page.getByLabel('Subject attribute').fill('objectGUID');
    await button('Save').click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Metadata as text').inputValue()).toBe(typed);
    expect(await page.getByLabel('Subject attribute').inputValue()).toBe('objectGUID');
    await seen('refused');
    const { key } = await samlProvider();
    const ssoUrl = `${idctl.baseUrl}/provider`;
    await page.getByLabel('Metadata as text').fill(providerMetadata(key.certificate, { ssoUrl }));
    await button('Save').click();
    await page.getByText('The connection was saved.').waitFor();
    await page.getByText(/^Valid until /).waitFor();
    await button('Test').click();
    await page.getByRole('heading', { level: 2, name: 'Test' }).waitFor();
    await seen('tested');
    await button('Switch on').click();
    await page.getByText('The connection is on.').waitFor();
    await link('Use OpenID Connect instead').click();
    await heading('Connect by OpenID Connect');
    await link('Okta').click();
    await page.getByText('This replaces the SAML connection').waitFor();
    await button('Replace the connection').waitFor();
    await seen('replace');
    await page.context().close();
    expect([complaints, foreign]).toEqual([[], []]);
  });
});
