import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browser, startBrowser } from '../support/browser.ts';
import { password } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { peopled } from '../support/peopled.ts';

// An owner connects an application and reads what happened, in a real Chromium without scripts.

/** The folder for screenshots. If it is not set, the tests take none. */
const shots = process.env['IDCTL_TEST_SHOTS'];

const looks = [
  { name: 'wide-light', narrow: false, dark: false, script: false },
  { name: 'narrow-dark', narrow: true, dark: true, script: false },
];

describe.skipIf(dialect !== 'sqlite' || counterpartMissing('chromium'))(
  'applications and activity in a browser',
  () => {
    let idctl: Idctl;
    let browser: Browser;
    beforeAll(async () => {
      idctl = await openIdctl({ limits: { enabled: 'off' } });
      browser = await startBrowser([idctl.baseUrl]);
      if (shots) mkdirSync(shots, { recursive: true });
    });
    afterAll(async () => {
      await browser?.close();
      await idctl?.close();
    });

    const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
    const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });
    const heading = (page: Page, name: string) =>
      page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

    test.each(looks)(
      'X10 an owner connects an application and reads the activity: $name',
      async ({ name, ...look }) => {
        const { org } = await peopled(idctl, ['Grace Hopper']);
        const { page, complaints, foreign } = await browser.open(look);
        /** Checks the size of the page, and that it does not scroll sideways. */
        const seen = async (of: string) => {
          expect([of, (await page.content()).length < 60 * 1024]).toEqual([of, true]);
          const [wide, shown] = await page.evaluate<[number, number]>(
            '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
          );
          expect([of, wide]).toEqual([of, shown]);
          if (shots) await page.screenshot({ path: `${shots}/${of}-${name}.png`, fullPage: true });
        };

        await page.goto(`${idctl.baseUrl}/orgs/${org.slug}/applications`);
        await page.getByLabel('E-mail address or company domain').fill(org.owner.email ?? '');
        await page.keyboard.press('Enter');
        await page.getByLabel('Password').fill(password);
        await page.keyboard.press('Enter');
        await heading(page, `Applications of ${org.name}`);
        await link(page, 'Add an application').click();
        await heading(page, 'Add an application');
        await page.getByLabel('Name').fill('Wiki');
        await page.getByLabel('Redirect URIs').fill('http://wiki.acme.test/callback');
        await seen('application-new');
        await button(page, 'Add application').click();
        await page.getByRole('alert').waitFor();
        expect(await page.locator('textarea:focus').getAttribute('name')).toBe('redirectUris');
        expect(await page.getByLabel('Name').inputValue()).toBe('Wiki');
        await seen('application-refused');
        await page.getByLabel('Redirect URIs').fill('http://localhost:3000/callback');
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        await heading(page, 'Wiki');
        await page.getByText(/^cos_secret_/).waitFor();
        await seen('application-secret');
        await link(page, 'I have copied the secret').click();
        expect(await page.getByText(/^cos_secret_/).count()).toBe(0);
        await seen('application');
        await page.getByText('More settings').click();
        await page.getByLabel('ID token signed by').selectOption('EdDSA');
        await button(page, 'Save').click();
        await page.getByText('The application was changed.').waitFor();
        await page.getByLabel('Member').fill(org.owner.email ?? '');
        await button(page, 'Test').click();
        await heading(page, 'Test of Wiki');
        await page.getByText('What the application learns about the person').waitFor();
        await seen('application-test');
        await link(page, 'Back to Wiki').click();
        await link(page, 'New secret').click();
        await heading(page, 'Give Wiki a new secret?');
        await button(page, 'New secret').click();
        await page.getByText(/^cos_secret_/).waitFor();
        await link(page, 'Applications').click();
        await seen('applications');
        await link(page, 'Wiki').click();
        await link(page, 'Remove application').click();
        await button(page, 'Remove application').click();
        await page.getByText('The application was removed.').waitFor();

        await link(page, 'Activity').click();
        await heading(page, `Activity of ${org.name}`);
        await page.getByText('Ada Byron removed the application Wiki.').waitFor();
        await seen('activity');
        await page.getByLabel('What').selectOption({ label: 'Applications' });
        await page.getByLabel('Person').fill('Ada');
        await button(page, 'Search').click();
        await page.getByText('Person must be an e-mail address or an id.').waitFor();
        expect(await page.locator('input:focus').getAttribute('name')).toBe('person');
        await page.getByLabel('Person').fill(org.owner.email ?? '');
        await page.keyboard.press('Enter');
        await page.getByText('Ada Byron gave the application Wiki a new secret.').waitFor();
        expect(await page.locator('main .rows li').count()).toBe(4);
        const [file] = await Promise.all([
          page.waitForEvent('download'),
          link(page, 'CSV for spreadsheets').click(),
        ]);
        expect(file.suggestedFilename()).toBe(`${org.slug}-events.csv`);
        await page.context().close();
        expect([complaints, foreign]).toEqual([[], []]);
      },
    );
  },
);
