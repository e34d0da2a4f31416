import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browser, startBrowser } from '../support/browser.ts';
import { password, verifiedDomain } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { peopled } from '../support/peopled.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { clientOf } from '../support/scim-client.ts';

// An owner sees to projects, the directory and the settings in a real Chromium, without scripts.

/** The folder for screenshots. If it is not set, the tests take none. */
const shots = process.env['IDCTL_TEST_SHOTS'];
const looks = [
  { name: 'wide-light', narrow: false, dark: false, script: false },
  { name: 'narrow-dark', narrow: true, dark: true, script: false },
];

describe.skipIf(dialect !== 'sqlite' || counterpartMissing('chromium'))(
  'the parts of an organization',
  () => {
    let idctl: Idctl;
    let browser: Browser;
    let receiver: Receiver;
    beforeAll(async () => {
      idctl = await openIdctl({ limits: { enabled: 'off' }, outbound: { allow: ['127.0.0.1'] } });
      receiver = await startReceiver();
      browser = await startBrowser([idctl.baseUrl]);
      if (shots) mkdirSync(shots, { recursive: true });
    });
    afterAll(async () => {
      await browser?.close();
      await receiver?.stop();
      await idctl?.close();
    });

    const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
    const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });
    const heading = (page: Page, name: string | RegExp) =>
      page.getByRole('heading', { level: 1, name }).waitFor();

    test.each(looks)(
      'X10 an owner sees to projects, directory and settings: $name',
      async ({ name, ...look }) => {
        const { org } = await peopled(idctl, ['Grace Hopper', 'Alan Turing']);
        const domain = await verifiedDomain(idctl, org.slug);
        const { page, complaints, foreign } = await browser.open(look);
        /** Checks the size of the page, and that it does not scroll sideways. */
        const seen = async (of: string) => {
          expect([of, (await page.content()).length < 60 * 1024]).toEqual([of, true]);
          const [wide, shown] = await page.evaluate<[number, number]>(
            '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
          );
          expect([of, wide]).toEqual([of, shown]);
          const path = `${shots}/parts-${of}-${name}.png`;
          if (shots) await page.screenshot({ path, fullPage: true });
        };
        const parts = page.getByRole('navigation', { name: 'Pages' });
        const part = (text: string) => parts.getByRole('link', { name: text, exact: true }).click();

        await page.goto(`${idctl.baseUrl}/orgs/${org.slug}/projects`);
        await page.getByLabel('E-mail address or company domain').fill(org.owner.email ?? '');
        await page.keyboard.press('Enter');
        await page.getByLabel('Password').fill(password);
        await page.keyboard.press('Enter');
        await heading(page, `Projects of ${org.name}`);
        await page.getByLabel('Name', { exact: true }).fill('Website');
        await page.getByLabel('Short name').fill('Web Site');
        await button(page, 'Create project').click();
        await page.getByRole('alert').waitFor();
        await seen('project-refused');
        await page.getByLabel('Short name').fill('');
        await button(page, 'Create project').click();
        await page.getByText('The project was created.').waitFor();
        await page.getByLabel('E-mail address').fill(org.owner.email ?? '');
        await page.getByLabel('Role', { exact: true }).selectOption('commenter');
        await button(page, 'Add to project').click();
        await page.getByText('The person was added to the project.').waitFor();
        await page.locator('summary', { hasText: 'Change role' }).click();
        await page.getByLabel('New role').selectOption('admin');
        await seen('project');
        await button(page, 'Change role').click();
        await page.getByText('The role was changed.').waitFor();
        await page.getByLabel('Name', { exact: true }).fill('Our site');
        await button(page, 'Rename').click();
        await heading(page, 'Our site');
        await link(page, 'All projects').click();
        await seen('projects');

        await part('Overview');
        await heading(page, org.name);
        await page
          .getByRole('listitem')
          .filter({ hasText: 'Accounts from your directory (SCIM)' })
          .getByRole('link', { name: 'Connect' })
          .click();
        await heading(page, 'Accounts from your directory (SCIM)');
        await seen('directory-new');
        await button(page, 'Create token').click();
        const token = await page.locator('code.secret').innerText();
        await seen('token');
        const scim = clientOf(idctl, org, token);
        const userName = `mia@${domain}`;
        const { id: value } = await scim.create({ userName });
        await scim.send('POST', '/Groups', { displayName: 'Web', members: [{ value }] });
        await scim.send('POST', '/Users', { userName });
        await link(page, 'I have copied it').click();
        await page.getByText('Status 409').waitFor();
        await seen('directory');
        await page.getByRole('main').getByRole('link', { name: 'Groups', exact: true }).click();
        await link(page, 'Web').click();
        await page.getByText(userName).waitFor();
        await part('Directory');
        await link(page, 'Roles for groups').click();
        await page.getByLabel('Group', { exact: true }).first().fill('Web');
        await button(page, 'Add role in project').click();
        await page.getByText('Members of the SCIM group have the role now.').waitFor();
        await page.getByLabel('E-mail address').fill(org.owner.email ?? '');
        await page.getByLabel('Groups').fill('Web');
        await button(page, 'Preview').click();
        await heading(page, 'Roles for groups');
        await page.getByText(`The next sign-in of ${org.owner.email}`).waitFor();
        await seen('mappings');
        await link(page, 'Remove').click();
        await page.getByText(`Roles from it: ${userName} in website.`).waitFor();
        await seen('mapping-remove');
        await button(page, 'Remove mapping').click();
        await page.getByText('The mapping was removed.').waitFor();
        await part('Directory');
        await link(page, 'Replace token').click();
        await seen('token-replace');
        await link(page, 'Cancel').click();
        await link(page, 'Revoke token').click();
        await button(page, 'Revoke token').click();
        await page.getByText('The token was revoked.').waitFor();

        await part('Settings');
        await page.getByLabel('URL').fill(receiver.url);
        await page.getByLabel('Events').fill('nothing');
        await button(page, 'Add webhook').click();
        await page.getByRole('alert').waitFor();
        await seen('webhook-refused');
        await page.getByLabel('Events').fill('project.*');
        await button(page, 'Add webhook').click();
        await page.getByText('whsec_').waitFor();
        await link(page, 'I have copied it').click();
        await heading(page, 'Webhook');
        await button(page, 'Test').click();
        await page.getByText('The webhook accepted the message').waitFor();
        await seen('webhook');
        await link(page, 'Remove').click();
        await button(page, 'Remove webhook').click();
        await page.getByText('The webhook was removed.').waitFor();
        await seen('settings');
        await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Acme Limited');
        await button(page, 'Rename').click();
        await heading(page, 'Settings of Acme Limited');

        await part('Projects');
        await link(page, 'Our site').click();
        await link(page, 'Delete project').click();
        await page.getByText('Delete Our site (1 member)?').waitFor();
        await button(page, 'Delete project').click();
        await page.getByText('The project was deleted.').waitFor();
        await part('Settings');
        await link(page, 'Delete organization').click();
        await seen('delete');
        await button(page, 'Delete organization').click();
        await page.getByText('The organization was deleted.').waitFor();
        await page.context().close();
        expect([complaints, foreign]).toEqual([[], []]);
      },
    );
  },
);
