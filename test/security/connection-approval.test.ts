import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { saveLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { fresh, organization, person, signedIn, verifiedDomain } from '../support/builders.ts';
import { apply } from '../support/documents.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { registration } from '../support/sso.ts';
import { tokenOf } from '../support/tokens.ts';

// These tests check which saves of a connection its owners stand for. No save asks the network.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

type Settings = Record<string, unknown>;
type Kind = 'sso' | 'ldap';

const secrets = { sso: { clientSecret: 'a secret' }, ldap: { bindPassword: 'a password' } };

/** Settings that make a connection. */
const settingsOf = (kind: Kind, domain: string): Settings =>
  kind === 'sso'
    ? { emailDomain: domain, issuer: 'https://id.acme.test', ...registration }
    : {
        uri: 'ldaps://ldap.acme.test',
        bindDn: 'cn=idctl,dc=acme',
        ...secrets.ldap,
        searchBase: 'dc=acme',
        searchFilter: '(uid={username})',
        emailAttribute: 'mail',
      };

/** Changes of one pointing value each; and changes of every other setting. */
const pointing: Record<Kind, Settings[]> = {
  sso: [
    { emailDomain: 'elsewhere.test' },
    { issuer: 'https://evil.test' },
    { clientId: 'another' },
    { redirectUri: 'https://evil.test/callback' },
    { ignoreEmailVerified: true },
    { requireLocalTwoFactor: false },
  ],
  ldap: [
    { uri: 'ldaps://evil.test' },
    { uri: 'ldap://127.0.0.1', tls: false },
    { bindDn: 'cn=mallory,dc=acme' },
    { searchBase: 'ou=evil,dc=acme' },
    { searchFilter: '(cn={username})' },
    { emailAttribute: 'description' },
  ],
};
const others: Record<Kind, Settings[]> = {
  sso: [
    { syncOnLogin: false },
    { groupsClaim: 'roles' },
    { autoRemove: true },
    { absentGroups: 'none' },
    { clientSecret: 'another secret' },
  ],
  ldap: [
    { givenNameAttribute: 'cn' },
    { familyNameAttribute: 'cn' },
    { groupsAttribute: 'memberOf' },
    { bindPassword: 'another password' },
  ],
};

interface Site {
  org: string;
  path: string;
  settings: Settings;
  owner: Client;
  admin: Client;
  /** Sends requests with a token of scope admin of the owner. */
  token: Client;
  view(): Promise<Settings>;
}

/** Creates an organization with people of each role, and the connection as the owner saves it. */
async function site(kind: Kind, more: Settings = {}): Promise<Site> {
  const { slug: org, owner } = await organization(idctl);
  const other = await person(idctl);
  await addMember(idctl.operator(), { org, email: other.email ?? '', role: 'admin' });
  const domain = await verifiedDomain(idctl, org);
  const { token } = await tokenOf(idctl, { user: owner.id, scope: 'admin' });
  const made = {
    org,
    path: `/api/v1/orgs/${org}/${kind}`,
    settings: { ...settingsOf(kind, domain), enabled: true, ...more },
    owner: await signedIn(idctl, owner.email),
    admin: await signedIn(idctl, other.email),
    token: idctl.client({ headers: { authorization: `Bearer ${token}` } }),
  };
  const view = async () => (await made.owner.get(made.path)).body;
  expect(await made.owner.send('PUT', made.path, { body: made.settings })).toMatchObject({
    status: 200,
    body: { approved: true },
  });
  return { ...made, view };
}

/** Changes settings with PATCH; the secret goes along, because some changes need it again. */
async function change(kind: Kind, { path }: Site, by: Client, settings: Settings) {
  const answer = await by.send('PATCH', path, { body: { ...secrets[kind], ...settings } });
  expect([answer.status, settings]).toEqual([200, settings]);
  return answer.body;
}

const elsewhere = (kind: Kind): Settings => pointing[kind][1] ?? {};

describe.each(['sso', 'ldap'] as const)('I8 approval of a connection: %s', (kind) => {
  const strict = kind === 'sso' ? { requireLocalTwoFactor: true } : {};

  test('I8 a change of any pointing value by an admin makes the connection unapproved', async () => {
    for (const settings of pointing[kind]) {
      const at = await site(kind, strict);
      const before = await at.view();
      const domain = settings['emailDomain'];
      if (domain !== undefined) await verifiedDomain(idctl, at.org, String(domain));
      const after = await change(kind, at, at.admin, settings);
      expect([settings, after.approved]).toEqual([settings, false]);
      expect(after.changedBy).toMatchObject({ kind: 'user', name: 'Ada Byron' });
      expect(after.pointsAt).not.toBe(before['pointsAt']);
    }
  });

  test('I8 no other setting, secret or test by an admin changes the approval', async () => {
    const at = await site(kind);
    const { pointsAt, changedBy } = await at.view();
    for (const settings of others[kind]) {
      const after = await change(kind, at, at.admin, settings);
      expect([settings, after.approved]).toEqual([settings, true]);
      expect(after).toMatchObject({ pointsAt, changedBy });
    }
    await at.admin.post(`${at.path}/test`, {});
    expect(await at.view()).toMatchObject({ approved: true, pointsAt });
  });

  test('I8 a token never approves, not even one of an owner; the operator does', async () => {
    const at = await site(kind);
    const settings = { ...at.settings, ...elsewhere(kind) };
    const save = (by: Client) =>
      by.send('PUT', at.path, { body: { ...secrets[kind], ...settings } });
    expect((await save(at.token)).body).toMatchObject({ approved: false });
    expect((await save(at.owner)).body).toMatchObject({ approved: true });
    expect((await change(kind, at, at.token, pointing[kind][2] ?? {})).approved).toBe(false);
    const section = { org: at.org, ...settings, ...secrets[kind] };
    const operator = idctl.operator();
    const view =
      kind === 'sso'
        ? await saveSso(operator, saveSso.input.parse(section))
        : await saveLdap(operator, saveLdap.input.parse(section));
    // The organization does not learn which system account acted (security X9).
    const changedBy = { kind: 'operator', name: 'operator' };
    expect(view).toMatchObject({ approved: true, changedBy });
  });

  test('I8 an owner approves with every setting, and with a few only if it was approved before', async () => {
    const at = await site(kind);
    expect((await change(kind, at, at.owner, elsewhere(kind))).approved).toBe(true);
    await change(kind, at, at.admin, pointing[kind][2] ?? {});
    for (const settings of [...pointing[kind], ...others[kind]].slice(1))
      expect((await change(kind, at, at.owner, settings)).approved).toBe(false);
    const { emailDomain, issuer, clientId, ...rest } = at.settings;
    const all: Settings =
      kind === 'sso'
        ? {
            ...{ emailDomain, issuer, clientId },
            redirectUri: `${idctl.baseUrl}/auth/sso/callback`,
            ignoreEmailVerified: false,
            requireLocalTwoFactor: false,
          }
        : { ...rest, enabled: undefined, tls: true, caCertificate: null };
    for (const left of Object.keys(all).filter((name) => all[name] !== undefined)) {
      if (['bindPassword', 'clientSecret'].includes(left)) continue;
      const { [left]: _, ...named } = all;
      expect([left, (await change(kind, at, at.owner, named)).approved]).toEqual([left, false]);
    }
    expect((await change(kind, at, at.owner, all)).approved).toBe(true);
  });

  test('I8 switching off and on keeps the approval, unless an owner had switched it off', async () => {
    const at = await site(kind);
    const flip = async (by: Client, verb: 'enable' | 'disable') =>
      (await by.post(`${at.path}/${verb}`)).body.approved;
    expect([await flip(at.admin, 'disable'), await flip(at.admin, 'enable')]).toEqual([true, true]);
    expect([await flip(at.owner, 'disable'), await flip(at.owner, 'enable')]).toEqual([true, true]);
    expect([await flip(at.token, 'disable'), await flip(at.admin, 'enable')]).toEqual([
      true,
      false,
    ]);
    expect(await flip(at.owner, 'disable')).toBe(false);
  });

  test('I8 an admin who saves what an owner switched off as enabled makes it unapproved', async () => {
    const at = await site(kind);
    await at.owner.post(`${at.path}/disable`);
    const save = () => at.admin.send('PUT', at.path, { body: at.settings });
    expect((await save()).body).toMatchObject({ enabled: true, approved: false });
  });

  test('I8 a connection that is removed and made again by an admin is not approved', async () => {
    const at = await site(kind);
    expect((await at.admin.send('DELETE', at.path)).status).toBe(204);
    const made = await at.admin.send('PUT', at.path, { body: at.settings });
    expect(made.body).toMatchObject({ approved: false, enabled: true });
  });

  test('I8 a document approves as its sender does, and only if it changes where the connection points', async () => {
    const at = await site(kind);
    const me = async (by: Client) => (await by.get('/api/v1/me')).body.id;
    const as = async (by: Client, token?: true) => {
      const accountId = await me(by);
      const proof = token
        ? { via: 'pat' as const, tokenId: accountId, scope: 'admin' as const }
        : { via: 'session' as const, sessionId: accountId };
      return idctl.as({ kind: 'user', accountId, name: 'Ada', ...proof });
    };
    const { clientSecret: _, bindPassword: __, ...plain } = at.settings;
    const [field, value] = Object.entries(secrets[kind])[0] ?? ['', ''];
    const send = async (by: Client, more: Settings, token?: true) => {
      const section = { ...plain, ...more, [field]: { value } };
      await apply(await as(by, token), at.org, { idctl: 1, [kind]: section });
      return (await at.view())['approved'];
    };
    const off = kind === 'sso' ? { groupsClaim: 'roles' } : { groupsAttribute: 'memberOf' };
    expect(await send(at.admin, off)).toBe(true);
    expect(await send(at.admin, elsewhere(kind))).toBe(false);
    // The owner changes nothing that points, so the owner stands for nothing.
    expect(await send(at.owner, { ...elsewhere(kind), ...off })).toBe(false);
    expect(await send(at.owner, {})).toBe(true);
    expect(await send(at.owner, elsewhere(kind), true)).toBe(false);
  });
});

describe('I8 what belongs to single sign-on alone', () => {
  test("I8 the instance's own callback as redirect URI, and stricter settings, do not point", async () => {
    const at = await site('sso', { ignoreEmailVerified: true });
    const own = { redirectUri: `${idctl.baseUrl}/auth/sso/callback` };
    const { pointsAt } = await at.view();
    expect(await change('sso', at, at.admin, own)).toMatchObject({ approved: true, pointsAt });
    const stricter = { ignoreEmailVerified: false, requireLocalTwoFactor: true };
    expect(await change('sso', at, at.admin, stricter)).toMatchObject({ approved: true });
    const back = { requireLocalTwoFactor: false };
    expect(await change('sso', at, at.admin, back)).toMatchObject({ approved: false });
  });

  test('I8 a connection whose domain another organization verified is not approved, not even with its domain again', async () => {
    const at = await site('sso');
    const domain = `${fresh('moved')}.test`;
    await at.owner.post(`${at.path}/disable`);
    await change('sso', at, at.owner, { emailDomain: domain });
    const other = await organization(idctl);
    await verifiedDomain(idctl, other.slug, domain);
    expect(await at.view()).toMatchObject({ emailDomain: null, approved: false, changedBy: null });
    const { emailDomain } = at.settings;
    expect(await change('sso', at, at.admin, { emailDomain })).toMatchObject({ approved: false });
    const about = { kind: 'user', name: 'Ada Byron' };
    expect(await at.view()).toMatchObject({ changedBy: about });
  });

  test('I8 an admin who removes and adds the domain keeps the approval; an owner who removes it withdraws it', async () => {
    for (const [by, approved] of [
      ['admin', true],
      ['owner', false],
    ] as const) {
      const at = await site('sso');
      const domain = String(at.settings['emailDomain']);
      const path = `/api/v1/orgs/${at.org}/domains/${domain}`;
      expect((await at[by].send('DELETE', path)).status).toBe(204);
      expect(await at.view()).toMatchObject({ enabled: false, approved: true });
      await verifiedDomain(idctl, at.org, domain);
      const enabled = await at.admin.post(`${at.path}/enable`);
      expect(enabled.body).toMatchObject({ enabled: true, approved });
    }
  });
});
