import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browser, startBrowser } from '../support/browser.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

import { joined, settingsFor } from '../support/ldap.ts';
import { directoryPassword, type Slapd, startSlapd } from '../support/slapd.ts';

const base = 'http://id.localhost';
const missing = counterpartMissing('chromium') || counterpartMissing('slapd');

// Tests the filter that docs/providers/openldap.md recommends. Runs on SQLite only: nothing depends on the
// database.

describe.skipIf(dialect !== 'sqlite' || missing)(
  '§4.2 the directory form in a real Chromium',
  () => {
    let slapd: Slapd;
    let idctl: Idctl;
    let browser: Browser;
    let org: { name: string };
    let domain: string;

    beforeAll(async () => {
      slapd = await startSlapd();
      idctl = await openIdctl({ baseUrl: base, outbound: { allow: ['127.0.0.1'] } });
      const searchFilter = '(|(uid={username})(mail={username}))';
      ({ org, domain } = await joined(idctl, { ...settingsFor(slapd), searchFilter }));
      await slapd.person('ada', { givenName: 'Ada', mail: `ada@${domain}` });
      // This user name differs from the part of the address before the `@`.
      await slapd.person('ghopper', { givenName: 'Grace', mail: `grace.hopper@${domain}` });
      browser = await startBrowser([base], idctl.baseUrl);
    });
    afterAll(async () => {
      await browser?.close();
      await idctl?.close();
      await slapd?.stop();
    });

    describe.each([
      ['with script', true],
      ['without script', false],
    ])('%s', (_name, script) => {
      async function enter(who: string, { as, name }: { as: string | null; name: string }) {
        const { page, complaints, foreign } = await browser.open({ script });
        await page.goto(`${base}/`);
        await page.getByLabel('E-mail address or user name').fill(who);
        await page.keyboard.press('Enter');
        const username = page.getByLabel('User name');
        await username.waitFor();
        if (as !== null) await username.fill(as);
        await page.getByLabel(`Your ${org.name} password`).fill(`not ${directoryPassword}`);
        await page.keyboard.press('Enter');
        await page.getByRole('alert').waitFor();
        expect(await page.getByRole('alert').innerText()).toContain('Wrong user name or password.');
        // The user name stays, the password does not.
        expect(await page.getByLabel('Your').inputValue()).toBe('');
        await page.getByLabel(`Your ${org.name} password`).fill(directoryPassword);
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name, exact: true }).waitFor();
        expect([complaints, foreign]).toEqual([[], []]);
        await page.context().close();
      }

      test('L1 a person signs in by user name', () =>
        enter('ada', { as: null, name: 'Ada Byron' }));

      test('L1 a person signs in by address; the user name is filled in', () =>
        enter(`ada@${domain}`, { as: null, name: 'Ada Byron' }));

      test('L1 a person whose user name differs from the address signs in with the address', () =>
        enter(`grace.hopper@${domain}`, { as: `grace.hopper@${domain}`, name: 'Grace Byron' }));
    });
  },
);
