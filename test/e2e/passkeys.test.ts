import { mkdirSync } from 'node:fs';
import type { CDPSession, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { listPasskeys, removePasskey } from '../../src/services/signin/passkeys/operations.ts';
import { type Browser, startBrowser, type Window } from '../support/browser.ts';
import { password, person } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

// Tests passkeys in a real Chromium with its virtual authenticator. Runs on SQLite only: nothing
// in the tests depends on the database.

const base = 'http://id.localhost';
/** The folder for screenshots. If it is not set, the tests take none. */
const shots = process.env['IDCTL_TEST_SHOTS'];

/** The virtual authenticator of a window. */
interface Authenticator {
  cdp: CDPSession;
  id: string;
  /** Sets whether the person touches the authenticator, and whether it verifies the person. */
  set(of: { touched?: boolean; verified?: boolean }): Promise<void>;
  counted(): Promise<number>;
}

/** Adds an authenticator. The page offers its passkeys in the field only if `offered` is true. */
async function plugIn(page: Page, { offered = false } = {}): Promise<Authenticator> {
  // A touch answers the first request, so the offer in the field would race with the button.
  if (!offered)
    await page.addInitScript(
      'PublicKeyCredential.isConditionalMediationAvailable = async () => false',
    );
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    cdp,
    id: authenticatorId,
    set: async ({ touched, verified }) => {
      if (touched !== undefined)
        await cdp.send('WebAuthn.setAutomaticPresenceSimulation', {
          authenticatorId,
          enabled: touched,
        });
      if (verified !== undefined)
        await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: verified });
    },
    counted: async () =>
      (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length,
  };
}

describe.skipIf(dialect !== 'sqlite' || counterpartMissing('chromium'))(
  'passkeys in a real Chromium',
  () => {
    let idctl: Idctl;
    let browser: Browser;
    const opened: Window[] = [];

    beforeAll(async () => {
      idctl = await openIdctl({ baseUrl: base });
      browser = await startBrowser([base], idctl.baseUrl);
      if (shots) mkdirSync(shots, { recursive: true });
    });
    afterAll(async () => {
      await browser?.close();
      await idctl?.close();
    });
    afterEach(async () => {
      for (const { page, complaints, foreign } of opened.splice(0)) {
        await page.context().close();
        expect([complaints, foreign]).toEqual([[], []]);
      }
    });

    async function window(options: Parameters<Browser['open']>[0] = {}) {
      const made = await browser.open(options);
      opened.push(made);
      return made.page;
    }

    const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
    const greeted = (page: Page) =>
      page.getByRole('heading', { name: 'Ada Byron', exact: true }).waitFor();
    const told = (page: Page, role: 'alert' | 'status') =>
      expect.poll(() => page.getByRole(role).innerText(), { timeout: 20_000 });
    const shoot = async (page: Page, name: string) => {
      if (shots) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
    };

    async function enter(page: Page, email: string | null) {
      await page.goto(`${base}/login`);
      await page.getByLabel('E-mail address or company domain').fill(email ?? '');
      await page.keyboard.press('Enter');
      await page.getByLabel('Password').fill(password);
      await page.keyboard.press('Enter');
    }

    async function signOut(page: Page) {
      await button(page, 'Sign out').click();
      await told(page, 'status').toBe('You are signed out.');
    }

    /** Creates a person with a passkey in this authenticator, and signs the person out again. */
    async function withPasskey(page: Page, authenticator: Authenticator) {
      const { email, id } = await person(idctl);
      await authenticator.set({ touched: false });
      await enter(page, email);
      await greeted(page);
      await authenticator.set({ touched: true });
      await page.getByLabel('Name of a new passkey').fill('My phone');
      await button(page, 'Add a passkey').click();
      await told(page, 'status').toBe('The passkey was added.');
      await page.getByLabel('I have stored them').check();
      await button(page, 'Continue').click();
      await authenticator.set({ touched: false });
      await signOut(page);
      return { email, id };
    }

    test('a person adds a passkey on the account page, renames and removes it', async () => {
      const page = await window();
      const authenticator = await plugIn(page);
      const { email } = await withPasskey(page, authenticator);
      expect(await authenticator.counted()).toBe(1);
      await authenticator.set({ touched: true });
      await button(page, 'Sign in with a passkey').click();
      await greeted(page);
      expect(email).toBeTruthy();
      const passkeys = page.getByRole('region', { name: 'Passkeys' });
      await passkeys.getByText('Rename or remove').click();
      await passkeys.getByLabel('New name').fill('Old phone');
      await button(page, 'Rename').click();
      await told(page, 'status').toBe('The passkey was renamed.');
      await shoot(page, 'account-wide');
      await passkeys.getByText('Rename or remove').click();
      await page.getByRole('link', { name: 'Remove', exact: true }).click();
      await button(page, 'Remove passkey').click();
      await told(page, 'status').toBe('The passkey was removed.');
      await authenticator.set({ touched: false });
      await signOut(page);
      await authenticator.set({ touched: true });
      await button(page, 'Sign in with a passkey').click();
      await told(page, 'alert').toContain('You could not be signed in.');
      await shoot(page, 'refused-wide');
    });

    test('the sign-in page offers a passkey in the field, which signs in without the button', async () => {
      const page = await window();
      const authenticator = await plugIn(page, { offered: true });
      await withPasskey(page, authenticator);
      await authenticator.set({ touched: true });
      // The virtual authenticator chooses the passkey as soon as the page offers it.
      await page.goto(`${base}/login`);
      await greeted(page);
    });

    test('the button cancels the offer in the field, and asks for a passkey', async () => {
      const page = await window();
      const authenticator = await plugIn(page, { offered: true });
      await authenticator.set({ touched: false });
      await page.addInitScript(`
        const get = navigator.credentials.get.bind(navigator.credentials);
        window.asked = [];
        navigator.credentials.get = (of) => { window.asked.push(of); return get(of); };`);
      const asked = () =>
        page.evaluate(
          'asked.map(({ mediation, signal }) => [mediation ?? null, signal?.aborted ?? null])',
        );
      await page.goto(`${base}/login`);
      await expect.poll(asked, { timeout: 20_000 }).toEqual([['conditional', false]]);
      await button(page, 'Sign in with a passkey').click();
      await expect.poll(asked, { timeout: 20_000 }).toEqual([
        ['conditional', true],
        [null, null],
      ]);
    });

    test('P16 a passkey does not sign in if the authenticator does not verify the person', async () => {
      const page = await window();
      const authenticator = await plugIn(page);
      await withPasskey(page, authenticator);
      await authenticator.set({ touched: true, verified: false });
      await button(page, 'Sign in with a passkey').click();
      await told(page, 'alert').toContain('No passkey was used.');
    });

    test('P16 a page at another origin than baseUrl does not reload itself', async () => {
      const { page } = await browser.open();
      await plugIn(page, { offered: true });
      const loads: string[] = [];
      page.on('framenavigated', (frame) => loads.push(frame.url()));
      const refused = page.waitForResponse((answer) => answer.status() === 403);
      await page.goto(`${idctl.baseUrl}/login`);
      await refused;
      // A reload would come at once.
      await page.waitForTimeout(1000);
      expect(loads).toHaveLength(1);
      await page.context().close();
    });

    test('P12 a passkey is the second factor after a password, by keyboard alone', async () => {
      const page = await window({ narrow: true });
      const authenticator = await plugIn(page);
      const { email } = await withPasskey(page, authenticator);
      await enter(page, email);
      await page.waitForURL(`${base}/login/code`);
      await button(page, 'Use a passkey').waitFor();
      await shoot(page, 'second-factor-narrow');
      await authenticator.set({ touched: true });
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Use a passkey');
      await page.keyboard.press('Enter');
      await greeted(page);
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      expect(wide).toBeLessThanOrEqual(390);
      await shoot(page, 'account-narrow');
    });

    test('P16 after ten minutes, the account page asks the person to confirm with a passkey', async () => {
      const page = await window();
      const authenticator = await plugIn(page);
      await withPasskey(page, authenticator);
      await authenticator.set({ touched: true });
      await button(page, 'Sign in with a passkey').click();
      await greeted(page);
      idctl.wait(601);
      await page.reload();
      expect(await button(page, 'Add a passkey').count()).toBe(0);
      await shoot(page, 'confirm-wide');
      await button(page, 'Confirm with a passkey').click();
      await told(page, 'status').toContain('next ten minutes');
      await button(page, 'Add a passkey').waitFor();
      await button(page, 'Add a passkey').click();
      await told(page, 'alert').toContain('already has a passkey for your account');
    });

    test('with passkeys of two accounts on one authenticator, the first signs in after the second is removed', async () => {
      const page = await window();
      const authenticator = await plugIn(page);
      const first = await withPasskey(page, authenticator);
      const second = await withPasskey(page, authenticator);
      expect(await authenticator.counted()).toBe(2);
      const { items } = await listPasskeys.forOperator(idctl.operator(), {
        user: second.id,
        limit: 1,
      });
      await removePasskey.forOperator(idctl.operator(), {
        user: second.id,
        id: items[0]?.id ?? '',
      });
      const { credentials } = await authenticator.cdp.send('WebAuthn.getCredentials', {
        authenticatorId: authenticator.id,
      });
      const handle = Buffer.from(first.id.replaceAll('-', ''), 'hex').toString('base64');
      expect(credentials.map(({ userHandle }) => userHandle)).toContain(handle);
      for (const { credentialId, userHandle } of credentials) {
        if (userHandle === handle) continue;
        await authenticator.cdp.send('WebAuthn.removeCredential', {
          authenticatorId: authenticator.id,
          credentialId,
        });
      }
      await authenticator.set({ touched: true });
      await button(page, 'Sign in with a passkey').click();
      await page.getByText(first.email ?? 'none').waitFor();
    });

    test('without script, there is no button for a passkey, and a password signs in as before', async () => {
      const page = await window({ script: false });
      const { email } = await person(idctl);
      await page.goto(`${base}/login`);
      expect(await button(page, 'Sign in with a passkey').count()).toBe(0);
      await enter(page, email);
      await greeted(page);
      await page.getByText('To add a passkey, use a browser that supports passkeys').waitFor();
    });

    test.each([
      ['light', false],
      ['dark', true],
    ])('in %s mode, the sign-in page fits widths of 1280 and 390 pixels', async (name, dark) => {
      for (const narrow of [false, true]) {
        const page = await window({ dark, narrow });
        await plugIn(page);
        await page.goto(`${base}/login`);
        await button(page, 'Sign in with a passkey').waitFor();
        const width = await page.evaluate('document.documentElement.scrollWidth');
        expect(width).toBeLessThanOrEqual(narrow ? 390 : 1280);
        await shoot(page, `sign-in-${narrow ? 'narrow' : 'wide'}-${name}`);
        const { email } = await person(idctl);
        await page.getByLabel('E-mail address or company domain').fill(email ?? '');
        await page.keyboard.press('Enter');
        await button(page, 'Sign in with a passkey').waitFor();
        await shoot(page, `ways-${narrow ? 'narrow' : 'wide'}-${name}`);
      }
    });
  },
);
