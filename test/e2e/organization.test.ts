import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDomain } from '../../src/services/tenancy/domains/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { type Browser, startBrowser } from '../support/browser.ts';
import { password } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { peopled } from '../support/peopled.ts';

// An owner sees to the people of an organization in a real Chromium, without a terminal.

/** The folder for screenshots. If it is not set, the tests take none. */
const shots = process.env['IDCTL_TEST_SHOTS'];

const looks = [false, true].flatMap((narrow) =>
  [true, false].map((script) => ({ narrow, script, dark: narrow !== script })),
);
const nameOf = ({ narrow, dark, script }: (typeof looks)[number]) =>
  [narrow ? 'narrow' : 'wide', dark ? 'dark' : 'light', script ? 'script' : 'plain'].join('-');

const firstNames = ['Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Radia', 'Ken', 'Frances'];
const lastNames = ['Hopper', 'Turing', 'Liskov', 'Knuth', 'Perlman', 'Allen', 'Wirth'];
const names = firstNames.flatMap((first) => lastNames.map((last) => `${first} ${last}`));

describe.skipIf(dialect !== 'sqlite' || counterpartMissing('chromium'))('an organization', () => {
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
  const heading = (page: Page, name: string | RegExp) =>
    page.getByRole('heading', { level: 1, name }).waitFor();

  test.each(looks.map((look) => ({ ...look, name: nameOf(look) })))(
    'X10 an owner finds, promotes, invites and removes people: $name',
    async ({ name, ...look }) => {
      const { org } = await peopled(idctl, names);
      await addDomain(idctl.operator(), { org: org.slug, domain: `${org.slug}.example` });
      const other = await peopled(idctl, []);
      const email = org.owner.email ?? '';
      await addMember(idctl.operator(), { org: other.org.slug, email, role: 'member' });
      const { page, complaints, foreign } = await browser.open(look);
      /** Checks the size of the page, and that it does not scroll sideways. */
      const seen = async (of: string) => {
        const path = new URL(page.url()).pathname;
        expect([of, (await page.content()).length < 60 * 1024]).toEqual([of, true]);
        const [wide, shown] = await page.evaluate<[number, number]>(
          '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
        );
        expect([path, wide]).toEqual([path, shown]);
        if (shots)
          await page.screenshot({
            path: `${shots}/organization-${of}-${name}.png`,
            fullPage: true,
          });
      };

      await page.goto(`${idctl.baseUrl}/orgs/${org.slug}`);
      await page.getByLabel('E-mail address or company domain').fill(email);
      await page.keyboard.press('Enter');
      await page.getByLabel('Password').fill(password);
      await page.keyboard.press('Enter');
      await heading(page, org.name);
      await seen('overview');

      await link(page, 'People').first().click();
      await heading(page, `People of ${org.name}`);
      await seen('people');
      await link(page, 'Next page').click();
      await link(page, 'Previous page').click();
      await page.getByLabel('Name or address').fill('radia per');
      await page.keyboard.press('Enter');
      await link(page, 'Radia Perlman').click();
      await heading(page, 'Radia Perlman');
      await page.getByLabel('New role').selectOption('admin');
      await button(page, 'Change role').click();
      await page.getByText('The role was changed.').waitFor();
      await seen('person');
      await link(page, 'Why can this person not sign in?').click();
      await heading(page, 'How Radia Perlman signs in');
      await seen('sign-in');
      await link(page, 'Back to Radia Perlman').click();
      await link(page, 'Remove second factor').click();
      await page.getByRole('alert').waitFor();
      await seen('refused');
      await link(page, 'Back').click();
      await link(page, 'Remove from organization').click();
      await seen('remove');
      await button(page, 'Remove from organization').click();
      await page.getByText('The person was removed.').waitFor();

      await link(page, 'Invite people').click();
      await page.getByLabel('E-mail addresses').fill('new@elsewhere.example\nnobody');
      await page.getByLabel('Role').selectOption('owner');
      await seen('invite');
      await button(page, 'Invite').click();
      await page.getByText('Not invited').waitFor();
      await seen('invited');
      await button(page, 'Invite').click();
      await page.getByRole('alert').waitFor();
      expect(await page.locator('textarea:focus').count()).toBe(1);
      await seen('invite-refused');
      await link(page, 'Invitations').click();
      await heading(page, `Invitations to ${org.name}`);
      await seen('invitations');
      await link(page, 'Revoke').click();
      await button(page, 'Revoke invitation').click();
      await page.getByText('The invitation was revoked.').waitFor();

      await link(page, other.org.name).click();
      await heading(page, other.org.name);
      expect(await link(page, 'Invitations').count()).toBe(0);
      await seen('member');
      await link(page, 'Your account').click();
      await heading(page, 'Ada Byron');
      await page.context().close();
      expect([complaints, foreign]).toEqual([[], []]);
    },
  );
});
