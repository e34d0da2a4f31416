import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { createOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { type Browser, startBrowser } from '../support/browser.ts';
import { fresh, password, person, verifiedDomain } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { codeOf } from '../support/two-factor.ts';

// In a real Chromium, a person sets an authenticator up, loses it and signs in with a recovery code.
// Another changes their address and deletes their account. `npm run screenshots` keeps one walk as
// the pictures of docs/signin.md.

/** The folder for screenshots. If it is not set, the tests take none. */
const shots = process.env['IDCTL_TEST_SHOTS'];

const looks = [false, true].flatMap((narrow) =>
  [false, true].flatMap((dark) => [true, false].map((script) => ({ narrow, dark, script }))),
);
const nameOf = ({ narrow, dark, script }: (typeof looks)[number]) =>
  [narrow ? 'narrow' : 'wide', dark ? 'dark' : 'light', script ? 'script' : 'plain'].join('-');
const named = looks.map((look) => ({ ...look, name: nameOf(look) }));

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const greeted = (page: Page, name = 'Ada Byron') =>
  page.getByRole('heading', { name, exact: true }).waitFor();

async function signIn(page: Page, { baseUrl }: Idctl, email: string | null): Promise<void> {
  await page.goto(`${baseUrl}/login`);
  await page.getByLabel('E-mail address or company domain').fill(email ?? '');
  await page.keyboard.press('Enter');
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
}

describe.skipIf(dialect !== 'sqlite' || counterpartMissing('chromium'))('recovery codes', () => {
  let idctl: Idctl;
  let browser: Browser;
  let org: Awaited<ReturnType<typeof createOrganization>>;
  let domain: string;
  beforeAll(async () => {
    idctl = await openIdctl({ limits: { enabled: 'off' } });
    browser = await startBrowser([idctl.baseUrl]);
    org = await createOrganization(idctl.operator(), { name: 'Acme' });
    domain = await verifiedDomain(idctl, org.slug, 'acme.example');
    if (shots) mkdirSync(shots, { recursive: true });
  });
  afterAll(async () => {
    await browser?.close();
    await idctl?.close();
  });

  test.each(named)(
    'P17 after a lost authenticator, a code signs in: $name',
    async ({ name, ...look }) => {
      const called = look.narrow || look.dark || !look.script ? `ada-${name}` : 'ada';
      const { email } = await person(idctl, `${called}@${domain}`);
      await addMember(idctl.operator(), { org: org.slug, email: email ?? '', role: 'member' });
      const { page, complaints, foreign } = await browser.open(look);
      const shoot = async (of: string) => {
        const file = called === 'ada' ? of : `${of}-${name}`;
        if (shots) await page.screenshot({ path: `${shots}/${file}.png`, fullPage: true });
      };
      await signIn(page, idctl, email);
      await greeted(page);
      await button(page, 'Set up an authenticator').click();
      const secret = (await page.locator('code.secret').innerText()).replaceAll(' ', '');
      await shoot('authenticator');
      await page.getByLabel('Six-digit code from the app').fill(codeOf(idctl, secret));
      await button(page, 'Turn on').click();
      const codes = (await page.locator('pre.secret').innerText()).trim().split('\n');
      await shoot('recovery-codes');
      const downloading = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download the codes' }).click();
      const file = await downloading;
      expect(file.suggestedFilename()).toBe('idctl-recovery-codes.txt');
      const text = await readFile((await file.path()) ?? '', 'utf8');
      expect(codes.filter((code) => !text.includes(code))).toEqual([]);
      await page.getByLabel('I have stored them').check();
      await button(page, 'Continue').click();
      await greeted(page);
      await shoot('account');
      await button(page, 'Sign out').click();
      await signIn(page, idctl, email);
      await page.getByText('Use a recovery code').click();
      await shoot('second-factor');
      await page.getByLabel('Recovery code').fill(codes[0] ?? '');
      await button(page, 'Sign in').last().click();
      await greeted(page);
      await page.context().close();
      expect([complaints, foreign]).toEqual([[], []]);
    },
  );
});

describe.skipIf(dialect !== 'sqlite' || counterpartMissing('chromium'))('the own account', () => {
  let idctl: MailingIdctl;
  let browser: Browser;
  beforeAll(async () => {
    idctl = await openMailingIdctl({ limits: { enabled: 'off' } });
    browser = await startBrowser([idctl.baseUrl]);
  });
  afterAll(async () => {
    await browser?.close();
    await idctl?.close();
  });

  test.each(named)(
    'P18 a person changes the address, downloads their data, and deletes the account: $name',
    async ({ name: _, ...look }) => {
      const { email } = await person(idctl);
      const { page, complaints, foreign } = await browser.open(look);
      const told = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();
      await signIn(page, idctl, email);
      const moved = `${fresh('new')}@example.test`;
      await page.getByText('Change your e-mail address').click();
      await page.getByLabel('New e-mail address').fill(moved);
      await page.keyboard.press('Enter');
      await greeted(page, 'Confirm your new address');
      await page.getByLabel(/Six-digit code/).fill(await idctl.codeFor(moved));
      await page.keyboard.press('Enter');
      await told('Your e-mail address was changed.');
      const downloading = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download your data' }).click();
      const file = await downloading;
      expect(file.suggestedFilename()).toBe('idctl-account.json');
      expect(JSON.parse(await readFile(await file.path(), 'utf8'))).toMatchObject({
        account: { email: moved },
      });
      await button(page, 'Delete your account').click();
      await greeted(page, 'Delete your account?');
      await button(page, 'Delete account').click();
      await told('Your account was deleted.');
      await page.context().close();
      expect([complaints, foreign]).toEqual([[], []]);
    },
  );
});
