import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { tellClients } from '../../src/services/signin/provider/sign-outs.ts';
import { saveLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { saveLdapInput } from '../../src/services/tenancy/ldap/schema.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { changeMemberRole } from '../../src/services/tenancy/memberships/operations.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { type Apache, startApache } from '../support/apache.ts';
import { type Browser, startBrowser, type Window } from '../support/browser.ts';
import { password, person, verifiedDomain } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type Installation, install } from '../support/installation.ts';
import { settingsFor } from '../support/ldap.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { freePorts } from '../support/ports.ts';
import { application } from '../support/relying-party.ts';
import { directoryPassword, type Slapd, startSlapd } from '../support/slapd.ts';
import { registration } from '../support/sso.ts';
import { enrolOwn } from '../support/two-factor.ts';

// Tests an application behind Apache's mod_auth_openidc, and a second idctl, in a real Chromium.
// Runs on SQLite only: nothing in the tests depends on the database.

const missing =
  counterpartMissing('chromium') ||
  counterpartMissing('slapd') ||
  counterpartMissing('libapache2-mod-auth-openidc');

describe.skipIf(dialect !== 'sqlite' || missing)(
  'applications in a real Chromium',
  { timeout: 300_000 },
  () => {
    let idctl: Idctl;
    let provider: OpenIdProvider;
    let slapd: Slapd;
    let apache: Apache;
    let browser: Browser;
    let second: Installation;
    let wiki: Awaited<ReturnType<typeof application>>;
    let secondUrl: string;
    let wikiUrl: string;
    let domain: string;
    const opened: Window[] = [];

    beforeAll(async () => {
      const [wikiPort = 0, secondPort = 0] = await freePorts(2);
      wikiUrl = `http://localhost:${wikiPort}`;
      secondUrl = `http://127.0.0.1:${secondPort}`;
      // A process can have one instance open at a time, so the second one is a daemon.
      second = await install({ env: { IDCTL_OUTBOUND_ALLOW: '127.0.0.1' } });
      idctl = await openIdctl({ outbound: { allow: ['127.0.0.1', 'localhost'] } });
      provider = await startOpenIdProvider({
        clients: [
          {
            client_id: registration.clientId,
            client_secret: registration.clientSecret,
            redirect_uris: [`${idctl.baseUrl}/auth/sso/callback`],
          },
        ],
      });
      slapd = await startSlapd();
      wiki = await application(idctl, {
        name: 'Wiki',
        redirectUris: [`${wikiUrl}/callback`, `${secondUrl}/auth/sso/callback`],
        backchannelLogoutUri: `${wikiUrl}/callback?logout=backchannel`,
      });
      domain = await verifiedDomain(idctl, wiki.org.slug);
      apache = await startApache(wikiPort, [
        `OIDCProviderMetadataURL ${idctl.baseUrl}/.well-known/openid-configuration`,
        `OIDCClientID ${wiki.clientId}`,
        `OIDCClientSecret ${wiki.secret}`,
        `OIDCRedirectURI ${wikiUrl}/callback`,
        `OIDCCryptoPassphrase "only for this test"`,
        `OIDCScope "openid email profile groups"`,
        'OIDCPKCEMethod S256',
        'OIDCUserInfoRefreshInterval 1',
        // Otherwise the claims of the ID token, which is not renewed, override those of userinfo.
        'OIDCPassIDTokenAs serialized',
      ]);
      browser = await startBrowser([idctl.baseUrl, wikiUrl, secondUrl, provider.issuer]);
    }, 120_000);
    afterAll(async () => {
      await browser?.close();
      await apache?.stop();
      await idctl?.close();
      await slapd?.stop();
      await provider?.stop();
      await second?.close();
    });
    afterEach(async () => {
      for (const { page, complaints, foreign } of opened.splice(0)) {
        await page.context().close();
        expect([complaints, foreign]).toEqual([[], []]);
      }
    });

    /** Opens the application in a new window, which redirects to the sign-in page. */
    async function arrive(url = wikiUrl): Promise<Page> {
      const window = await browser.open();
      opened.push(window);
      await window.page.context().setExtraHTTPHeaders({ 'x-sign-in-as': 'grace' });
      await window.page.goto(url);
      return window.page;
    }

    async function present(page: Page, who: string) {
      await page.getByText('Sign in to continue to Wiki').waitFor();
      await page.locator('input[name=identifier]').fill(who);
      await page.keyboard.press('Enter');
    }

    const shown = (page: Page, id: string) =>
      expect.poll(() => page.locator(`#${id}`).innerText(), { timeout: 20_000 });

    async function signInByPassword(page: Page, email: string) {
      await present(page, email);
      await page.getByLabel('Password').fill(password);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Wiki' }).waitFor();
    }

    test('a person signs in by password; a new role shows after a refresh; signing out of idctl signs out of the application', async () => {
      const page = await arrive();
      await signInByPassword(page, wiki.email);
      await shown(page, 'email').toBe(wiki.email);
      await shown(page, 'groups').toBe('member');
      const role = { org: wiki.org.slug, user: wiki.member.id, role: 'admin' as const };
      await changeMemberRole(idctl.operator(), role);
      await expect
        .poll(async () => {
          await page.reload();
          return page.locator('#groups').innerText();
        })
        .toBe('admin');
      const account = await page.context().newPage();
      await account.goto(idctl.baseUrl);
      await account.getByRole('button', { name: 'Sign out', exact: true }).click();
      await account.getByText('You are signed out.').waitFor();
      const system = () => idctl.as({ kind: 'system', name: 'test' });
      await tellClients(system(), { stop: new AbortController().signal, anew: system });
      await page.goto(wikiUrl);
      await page.getByText('Sign in to continue to Wiki').waitFor();
    });

    test("a person signs in through the organization's own provider", async () => {
      await saveSso(
        idctl.operator(),
        saveSsoInput.parse({
          org: wiki.org.slug,
          emailDomain: domain,
          issuer: provider.issuer,
          ...registration,
          enabled: true,
        }),
      );
      const email = `grace@${domain}`;
      provider.people.set('grace', { email, email_verified: true, name: 'Grace Hopper' });
      const page = await arrive();
      await present(page, domain);
      await page.getByRole('heading', { name: 'Wiki' }).waitFor();
      await shown(page, 'email').toBe(email);
    });

    test('a person signs in through the directory, with a second factor', async () => {
      const settings = { ...settingsFor(slapd), org: wiki.org.slug, enabled: true };
      await saveLdap(idctl.operator(), saveLdapInput.parse(settings));
      const email = `ada@${domain}`;
      await slapd.person('ada', { givenName: 'Ada', mail: email });
      const code = await enrolOwn(idctl, await person(idctl, email));
      const page = await arrive();
      await present(page, email);
      await page.getByLabel('User name').fill('ada');
      await page.locator('input[name=password]').fill(directoryPassword);
      await page.keyboard.press('Enter');
      await page.getByLabel(/Six-digit code/).fill(code());
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Wiki' }).waitFor();
      await shown(page, 'email').toBe(email);
    });

    test('a second idctl signs a person in through the first, with its own single sign-on', async () => {
      const email = `linus@${domain}`;
      await person(idctl, email);
      await addMember(idctl.operator(), { org: wiki.org.slug, email, role: 'member' });
      const ok = async (...[words, input]: Parameters<Installation['run']>) => {
        const { code, err } = await second.run(words, input, { IDCTL_BASE_URL: secondUrl });
        expect([words, code, err]).toEqual([words, 0, expect.anything()]);
      };
      const org = ['--org', 'acme'];
      await ok(['domain', 'add', domain, ...org]);
      await ok(['domain', 'verify', domain, ...org, '--assert', '--yes']);
      const connection = [
        '--domain',
        domain,
        '--issuer',
        idctl.baseUrl,
        '--client-id',
        wiki.clientId,
      ];
      await ok(['sso', 'set', ...org, ...connection, '--secret-stdin', '--yes'], wiki.secret);
      await ok(['sso', 'enable', ...org, '--yes']);
      await second.serve({ IDCTL_BASE_URL: secondUrl }, Number(new URL(secondUrl).port));
      const page = await arrive(secondUrl);
      await page.locator('input[name=identifier]').fill(domain);
      await page.keyboard.press('Enter');
      await present(page, email);
      // The directory of the test before is still connected, so its form comes first.
      await page.getByRole('link', { name: /password instead/ }).click();
      await page.getByLabel('Password').fill(password);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Ada Byron', exact: true }).waitFor();
      expect(page.url()).toBe(`${secondUrl}/`);
    });
  },
);
