import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createUser } from '../../src/services/people/users/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { createOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { type Browser, startBrowser } from '../support/browser.ts';
import { password, signedIn, verifiedDomain } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

// The pictures of docs/browser.md: the pages of one organization in a real Chromium.
// `npm run screenshots` keeps them.

/** The folder for screenshots. If it is not set, the test keeps none. */
const shots = process.env['IDCTL_TEST_SHOTS'];
const maxBytes = 100 * 1024;
const shownAddress = 'https://id.acme.example';
const shownClient = 'client-0199c3a4-7c1e-7d55-8d1f-3f0e8a1b2c3d';

const people = ['Ada Byron', 'Grace Hopper', 'Alan Turing', 'Barbara Liskov', 'Radia Perlman'];
const addressOf = (name: string) => `${name.split(' ')[0]?.toLowerCase()}@acme.example`;

describe.skipIf(dialect !== 'sqlite' || counterpartMissing('chromium'))('the pictures', () => {
  let idctl: Idctl;
  let browser: Browser;
  beforeAll(async () => {
    idctl = await openIdctl({ limits: { enabled: 'off' } });
    browser = await startBrowser([idctl.baseUrl]);
    // The pictures show the same times after each run.
    idctl.wait((Date.UTC(2027, 2, 1, 9) - Date.now()) / 1000);
    if (shots) mkdirSync(shots, { recursive: true });
  });
  afterAll(async () => {
    await browser?.close();
    await idctl?.close();
  });

  /** An organization in use: people, a project, an application, and what its owner did. */
  async function acme() {
    const operator = idctl.operator();
    await createOrganization(operator, { name: 'Acme' });
    const org = 'acme';
    await verifiedDomain(idctl, org, 'acme.example');
    for (const name of people)
      await createUser(operator, { email: addressOf(name), name, password });
    await addMember(operator, { org, email: 'ada@acme.example', role: 'owner' });
    const ada = await signedIn(idctl, 'ada@acme.example');
    const done = async (method: string, path: string, body: object) => {
      idctl.wait(60);
      const answer = await ada.send(method, `/api/v1/orgs/acme/${path}`, { body });
      expect([path, answer.status]).toEqual([path, expect.toSatisfy((one: number) => one < 300)]);
      return answer.body;
    };
    for (const name of people.slice(1))
      await done('POST', 'members', { email: addressOf(name), role: 'member' });
    await done('PATCH', 'members/grace@acme.example', { role: 'admin' });
    await done('POST', 'projects', { name: 'Website' });
    const member = { user: 'alan@acme.example', role: 'member' };
    await done('POST', 'projects/website/members', member);
    const wiki = { name: 'Wiki', redirectUris: ['https://wiki.acme.example/callback'] };
    const { clientId } = await done('POST', 'clients', {
      ...wiki,
      homeUrl: 'https://wiki.acme.example/',
    });
    await done('POST', 'invitations', { email: 'edsger@vendor.example', role: 'member' });
    const link = await done('POST', 'setup-links', { for: ['domain', 'sso', 'scim'] });
    return { clientId, url: String(link.url) };
  }

  async function shoot(page: Page, name: string): Promise<void> {
    // The port and the client ID are others each time.
    await page.evaluate(
      `{ const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        for (let node = texts.nextNode(); node; node = texts.nextNode())
          node.textContent = node.textContent.replaceAll('${idctl.baseUrl}', '${shownAddress}')
            .replace(/client-[0-9a-f-]{36}/, '${shownClient}'); }`,
    );
    const path = shots ? { path: `${shots}/${name}.png` } : {};
    const picture = await page.screenshot(path);
    expect([name, picture.length < maxBytes]).toEqual([name, true]);
  }

  test('of an organization', async () => {
    const { clientId, url } = await acme();
    const { page, complaints } = await browser.open();
    await page.setViewportSize({ width: 1000, height: 720 });
    await page.goto(`${idctl.baseUrl}/login`);
    await page.getByLabel('E-mail address or company domain').fill('ada@acme.example');
    await page.keyboard.press('Enter');
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByText('Sign out').first().waitFor();
    const shown = {
      overview: '',
      people: '/people',
      provider: '/sign-in/sso/set?provider=entra',
      application: `/applications/${clientId}`,
      activity: '/activity',
    };
    for (const [name, path] of Object.entries(shown)) {
      const answer = await page.goto(`${idctl.baseUrl}/orgs/acme${path}`);
      expect([path, answer?.status()]).toEqual([path, 200]);
      // The form of the search would fill the picture.
      if (name === 'activity')
        await page.evaluate("document.querySelectorAll('main section')[1].scrollIntoView()");
      await shoot(page, `organization-${name}`);
    }
    const vendor = await browser.open();
    await vendor.page.setViewportSize({ width: 1000, height: 720 });
    await vendor.page.goto(url);
    await vendor.page.getByRole('button', { name: 'Start in this browser' }).click();
    await vendor.page.getByRole('heading', { level: 1, name: 'Set up sign-in for Acme' }).waitFor();
    await vendor.page.getByRole('link', { name: 'I am done' }).waitFor();
    await shoot(vendor.page, 'setup-link');
    expect([...complaints, ...vendor.complaints]).toEqual([]);
  });
});
