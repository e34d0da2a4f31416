import { describe, expect, onTestFinished, test } from 'vitest';
import { Session } from '../../src/database/models/session.ts';
import { saveLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { saveLdapInput } from '../../src/services/tenancy/ldap/schema.ts';
import { fresh, organization, person, signedIn, verifiedDomain } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import type { Idctl } from '../support/idctl.ts';
import { openInstance } from '../support/instance.ts';
import { joined, settingsFor, signInByLdap } from '../support/ldap.ts';
import { type Opened, open } from '../support/pages.ts';
import { entry, result, startScriptedDirectory } from '../support/scripted-directory.ts';
import { directoryPassword, service, startSlapd, suffix } from '../support/slapd.ts';

// These tests check which directory gets a password. A process has one instance open at a time, so
// each test opens its own.

const outbound = { allow: ['127.0.0.1'] };

/** Starts a directory that accepts every password, and gives every user the address `mail`. */
async function greedyDirectory(mail: string) {
  const directory = await startScriptedDirectory((request) => {
    const found = { mail: [mail], entryUUID: ['mallory'] };
    if (request.kind !== 'search') return result(request);
    return Buffer.concat([entry(request, `uid=x,${suffix}`, found), result(request)]);
  });
  onTestFinished(() => directory.stop());
  return directory;
}

const at = (idctl: Idctl, path: string, query: Record<string, string> = {}) =>
  open(idctl.client({ keepCookies: true }), `${path}?${new URLSearchParams(query)}`);

/** The names of a page's forms that take a password. */
const formsOf = ({ body }: Opened) =>
  [...body.matchAll(/action="\/login\/(password|directory)"/g)].map(([, name]) => name);

const methodsOf = async (idctl: Idctl, identifier: string) =>
  (await idctl.client().get(`/api/v1/auth/methods?${new URLSearchParams({ identifier })}`)).body
    .methods;

const userNameOn = ({ body }: Opened) =>
  /<input id="username"[^>]*? value="([^"]*)"/.exec(String(body))?.[1] ?? '';

/** Sends the directory form, with a form token from another page. */
async function force(idctl: Idctl, fields: Record<string, string>) {
  const client = idctl.client({ keepCookies: true });
  const { body } = await open(client, '/login?identifier=a@elsewhere.test');
  const token = /name="token" value="([^"]*)"/.exec(body)?.[1] ?? '';
  return client.form('/login/directory', { token, password: directoryPassword, ...fields });
}

describe('L1 the only directory belongs to a hostile organization', () => {
  /** Sets up an organization with a verified domain, whose directory accepts every password. */
  async function attacked(creation: 'anyone' | 'operator') {
    const idctl = await openInstance({ orgs: { creation }, outbound });
    const { email } = await person(idctl, `${fresh('olga')}@operator.test`);
    const mallory = await signedIn(idctl, (await person(idctl)).email);
    const made = await mallory.post('/api/v1/orgs', { name: fresh('evil') });
    expect(made.status).toBe(creation === 'anyone' ? 201 : 403);
    const org: string = made.body.slug ?? (await organization(idctl)).slug;
    // A single organization that the operator made may offer its directory, so make another one.
    if (creation === 'operator') await organization(idctl);
    const domain = await verifiedDomain(idctl, org);
    const directory = await greedyDirectory(`mallory@${domain}`);
    const settings = {
      uri: directory.uri,
      tls: false,
      ...service,
      searchBase: suffix,
      enabled: true,
    };
    const reading = { searchFilter: '(uid={username})', emailAttribute: 'mail' };
    await saveLdap(idctl.operator(), saveLdapInput.parse({ org, ...settings, ...reading }));
    return { idctl, org, domain, directory, victims: [email ?? '', `new@${fresh('else')}.test`] };
  }

  test.each(['anyone', 'operator'] as const)(
    'L1 only the password form is shown, and the directory receives no byte (orgs.creation: %s)',
    async (creation) => {
      const { idctl, directory, victims } = await attacked(creation);
      const before = await Session.count();
      for (const identifier of victims) {
        for (const by of [{}, { by: 'directory' }]) {
          const page = await at(idctl, '/login', { identifier, ...by });
          expect(formsOf(page)).toEqual(['password']);
          expect(page.text).not.toContain('user name');
        }
        expect(await methodsOf(idctl, identifier)).toEqual(['password']);
        expect(await signInByLdap(idctl, { username: identifier })).toMatchObject({
          status: 400,
          body: { errors: [{ path: 'org', message: 'is required' }] },
        });
        const forced = await force(idctl, { username: identifier, identifier });
        expect([forced.status, forced.headers['set-cookie'] ?? '']).toEqual([
          400,
          expect.not.stringContaining('access_token'),
        ]);
      }
      expect(await signInByLdap(idctl, { username: 'olga' })).toMatchObject({ status: 400 });
      expect((await force(idctl, { username: 'olga' })).status).toBe(400);
      expect((await at(idctl, '/login')).body).not.toContain('/login/directory');
      expect(formsOf(await at(idctl, '/login/directory'))).toEqual([]);
      expect([directory.received(), await Session.count()]).toEqual([0, before]);
    },
  );

  test('L1 the organization’s own domain leads to its directory, and the page says who owns the domain', async () => {
    const { idctl, org, domain, directory } = await attacked('anyone');
    for (const identifier of [domain, `ada@${domain}`]) {
      const page = await at(idctl, '/login', { identifier });
      expect([formsOf(page), page.text]).toEqual([
        ['directory'],
        expect.stringContaining(`, which owns ${domain} .`),
      ]);
      expect(await methodsOf(idctl, identifier)).toEqual(['password', 'ldap']);
    }
    // A page's address cannot name an organization: such a link would show its directory to anyone.
    expect(formsOf(await at(idctl, '/login/directory', { org }))).toEqual([]);
    expect((await force(idctl, { username: 'ada', org })).status).toBe(400);
    expect(directory.received()).toBe(0);
    expect(await signInByLdap(idctl, { username: 'ada', org })).toMatchObject({ status: 200 });
  });
});

describe.skipIf(counterpartMissing('slapd'))(
  'L1 the only organization, made by the operator',
  () => {
    test('L1 an address on an unverified domain gets the password form, which links to the directory form', async () => {
      const slapd = await startSlapd();
      onTestFinished(() => slapd.stop());
      const idctl = await openInstance({ outbound });
      const { org, domain } = await joined(idctl, settingsFor(slapd));
      const uid = fresh('ada');
      await slapd.person(uid, { mail: `${uid}@${domain}` });
      const elsewhere = 'olga@elsewhere.test';
      const page = await at(idctl, '/login', { identifier: elsewhere });
      expect([formsOf(page), page.text]).toEqual([
        ['password'],
        expect.stringContaining('Use a user name instead'),
      ]);
      expect(await methodsOf(idctl, elsewhere)).toEqual(['password', 'ldap']);
      for (const chosen of [
        await at(idctl, '/login', { identifier: elsewhere, by: 'directory' }),
        await at(idctl, '/login/directory'),
      ]) {
        expect([formsOf(chosen), chosen.text]).toEqual([
          ['directory'],
          expect.stringContaining(`Your ${org.name} password`),
        ]);
        const entered = await chosen.submit('/login/directory', {
          username: uid,
          password: directoryPassword,
        });
        expect(entered.text).toContain('Sign out');
      }
      expect(await signInByLdap(idctl, { username: uid })).toMatchObject({ status: 200 });
      // With passwords off, an address on an unverified domain does not get a form: the directory form
      // appears only when chosen.
      idctl.app.config.signin.password = 'off';
      expect(formsOf(await at(idctl, '/login', { identifier: elsewhere }))).toEqual([]);
      expect(formsOf(await at(idctl, '/login', { identifier: `ada@${domain}` }))).toEqual([
        'directory',
      ]);
      // With a second organization, other addresses no longer lead to the directory.
      await organization(idctl);
      expect((await methodsOf(idctl, elsewhere)).includes('ldap')).toBe(false);
      expect(await signInByLdap(idctl, { username: uid })).toMatchObject({ status: 400 });
    });

    test('L1 the first field accepts a user name; the directory form names the organization and prefills the user name', async () => {
      const slapd = await startSlapd();
      onTestFinished(() => slapd.stop());
      const idctl = await openInstance({ outbound });
      const { org, domain } = await joined(idctl, settingsFor(slapd));
      const uid = fresh('ada');
      await slapd.person(uid, { mail: `${uid}@${domain}` });
      expect((await at(idctl, '/login')).text).toContain('E-mail address or user name');
      const typed = [
        [uid, uid, ''],
        [`${uid}.byron`, `${uid}.byron`, ''],
        [`CORP\\${uid}`, `CORP\\${uid}`, ''],
        [`${uid}@${domain}`, uid, `, which owns ${domain} .`],
        [domain, '', `, which owns ${domain} .`],
      ] as const;
      for (const [identifier, prefilled, owner] of typed) {
        const page = await at(idctl, '/login', { identifier });
        expect([identifier, formsOf(page)]).toEqual([identifier, ['directory']]);
        expect(page.text).toContain(`Use your account at ${org.name} ${owner}`);
        expect(page.text).toContain(`Your ${org.name} password`);
        expect(userNameOn(page)).toBe(prefilled);
      }
      for (const identifier of [uid, `${uid}@${domain}`]) {
        const page = await at(idctl, '/login', { identifier });
        const username = userNameOn(page);
        const entered = await page.submit('/login/directory', {
          username,
          password: directoryPassword,
        });
        expect([identifier, entered.text]).toEqual([
          identifier,
          expect.stringContaining('Sign out'),
        ]);
      }
      // An address on another domain prefills no user name.
      const elsewhere = { identifier: 'olga@elsewhere.test', by: 'directory' };
      expect(userNameOn(await at(idctl, '/login', elsewhere))).toBe('');
      // With two organizations, a user name does not identify a directory.
      await organization(idctl);
      const refused = await at(idctl, '/login', { identifier: uid });
      expect([formsOf(refused), refused.text]).toEqual([
        [],
        expect.stringContaining('Your entry must be an e-mail address'),
      ]);
      expect(refused.text).toContain('E-mail address or company domain');
    });
  },
);
