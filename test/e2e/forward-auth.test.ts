import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../src/services/tenancy/clients/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { type Browser, startBrowser } from '../support/browser.ts';
import { organization, password, person } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type Nginx, startNginx } from '../support/nginx.ts';
import { freePorts } from '../support/ports.ts';
import { nginxBlocks, startEcho } from '../support/proxies.ts';

// Tests an application behind nginx in a real Chromium. Names below localhost are this machine.

const missing = counterpartMissing('nginx') || counterpartMissing('chromium');

describe.skipIf(missing)('an application behind forward auth', () => {
  let idctl: Idctl;
  let echo: Awaited<ReturnType<typeof startEcho>>;
  let nginx: Nginx;
  let browser: Browser;
  let origin: string;
  let email: string;

  beforeAll(async () => {
    idctl = await openIdctl();
    echo = await startEcho();
    const [port = 0] = await freePorts(1);
    const host = 'app.localhost';
    origin = `http://${host}:${port}`;
    const to = { idctl: idctl.baseUrl, application: echo.url };
    nginx = await startNginx(nginxBlocks({ host, port, ...to }), port);
    const { slug: org } = await organization(idctl);
    const input = { org, name: 'App', forwardAuthOrigins: [origin] };
    await createClient(idctl.operator(), createClient.input.parse(input));
    email = String((await person(idctl)).email);
    await addMember(idctl.operator(), { org, email, role: 'member' });
    browser = await startBrowser([idctl.baseUrl, origin]);
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await nginx?.stop();
    await echo?.stop();
    await idctl?.close();
  });

  test.each([true, false])(
    'O11 a person signs in and gets the page that they asked for (script: %s)',
    { timeout: 120_000 },
    async (script) => {
      const { page, complaints, foreign } = await browser.open({ script });
      await page.goto(`${origin}/wiki?page=1`);
      await page.getByLabel('E-mail address or company domain').fill(email);
      await page.keyboard.press('Enter');
      await page.getByLabel('Password').fill(password);
      await page.keyboard.press('Enter');
      await page.waitForURL(`${origin}/wiki?page=1`);
      const { headers } = JSON.parse(await page.locator('body').innerText());
      expect(headers).toMatchObject({ 'x-idctl-email': email, 'x-idctl-groups': 'member' });
      expect(headers.cookie ?? '').not.toContain('idctl');
      // The session at idctl continues, so a visit without cookies does not need a sign-in page.
      const cookies = await page.context().cookies(origin);
      expect(cookies.map(({ name }) => name).toSorted()).toEqual(['idctl', 'idctl-flow']);
      await page.context().clearCookies({ domain: 'app.localhost' });
      await page.goto(`${origin}/again`);
      expect(page.url()).toBe(`${origin}/again`);
      expect([complaints, foreign]).toEqual([[], []]);
      await page.context().close();
    },
  );

  test.each([
    ['first', [0, 1]],
    ['second', [1, 0]],
  ] as const)(
    'O11 two tabs opened at the same time both reach their page; signed in first: the %s',
    { timeout: 120_000 },
    async (_, order) => {
      const { page, complaints } = await browser.open();
      const tabs = [page, await page.context().newPage()];
      const paths = ['/one', '/two'];
      await Promise.all(tabs.map((tab, at) => tab.goto(origin + paths[at])));
      for (const at of order) {
        const tab = tabs[at] ?? page;
        await tab.getByLabel('E-mail address or company domain').fill(email);
        await tab.keyboard.press('Enter');
        // In the other tab, the person is signed in already.
        if (at === order[0]) {
          await tab.getByLabel('Password').fill(password);
          await tab.keyboard.press('Enter');
        }
        await tab.waitForURL(origin + paths[at]);
        const { headers } = JSON.parse(await tab.locator('body').innerText());
        expect(headers).toMatchObject({ 'x-idctl-email': email });
      }
      expect(complaints).toEqual([]);
      await page.context().close();
    },
  );
});
