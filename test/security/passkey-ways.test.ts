import { describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Passkey } from '../../src/database/models/passkey.ts';
import { Session } from '../../src/database/models/session.ts';
import { transaction } from '../../src/database/transaction.ts';
import { checkPasskeys } from '../../src/services/instance/doctor/diagnose.ts';
import { createUser } from '../../src/services/people/users/operations.ts';
import { explain } from '../../src/services/signin/explain/operations.ts';
import { createLoginLink } from '../../src/services/signin/methods/link.ts';
import { enterByPasskey } from '../../src/services/signin/methods/passkey.ts';
import { reclaim } from '../../src/services/tenancy/identities/reclaim.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import {
  changeSignInSettings,
  showSignInSettings,
} from '../../src/services/tenancy/signin-settings/operations.ts';
import { fresh, organization, password, signedIn, verifiedDomain } from '../support/builders.ts';
import type { Idctl } from '../support/idctl.ts';
import { openInstance } from '../support/instance.ts';
import { open } from '../support/pages.ts';
import {
  addPasskey,
  answerTo,
  passkeySite as baseUrl,
  personWithPasskey,
  signInByPasskey,
} from '../support/passkeys.ts';

// These tests check which passkeys can sign in, and for how long.

const browserOf = (idctl: Idctl) => idctl.client({ keepCookies: true });

/** A person without a password, in a browser that the operator's link has signed in. */
async function linkedIn(idctl: Idctl, email = `${fresh('only')}@example.test`) {
  const account = await createUser(idctl.operator(), { email, name: 'Only' });
  const { url } = await createLoginLink(idctl.operator(), { user: account.id });
  const browser = browserOf(idctl);
  await (await open(browser, url.slice(baseUrl.length))).submit('/login/link');
  return { account, email, browser };
}

test('P16 the only passkey of an account without another way in cannot be removed', async () => {
  const idctl = await openInstance({ baseUrl });
  const { browser } = await linkedIn(idctl);
  const { answer, held } = await addPasskey(browser);
  const again = browserOf(idctl);
  expect((await signInByPasskey(again, held)).status).toBe(200);
  const remove = (id: string) => again.send('DELETE', `/api/v1/me/passkeys/${id}`);
  expect(await remove(answer.body.id)).toMatchObject({
    status: 409,
    body: { code: 'last_way_in' },
  });
  const second = await addPasskey(again);
  expect(second.answer.status).toBe(201);
  expect((await remove(answer.body.id)).status).toBe(204);
  expect((await remove(second.answer.body.id)).body).toMatchObject({ code: 'last_way_in' });
});

test('O3 an owner’s passkey that signs in alone counts as a way in, and the last way cannot be switched off', async () => {
  const idctl = await openInstance({ baseUrl });
  const org = await organization(idctl);
  const domain = await verifiedDomain(idctl, org.slug);
  const { account, browser } = await linkedIn(idctl, `owner@${domain}`);
  await addMember(idctl.operator(), { org: org.slug, email: account.email ?? '', role: 'owner' });
  const { answer } = await addPasskey(browser);
  const set = (given: object) =>
    changeSignInSettings(idctl.operator(), { org: org.slug, ...given });
  await set({ password: false, passkey: true });
  await expect(set({ passkey: false })).rejects.toMatchObject({ code: 'owners_locked_out' });
  await transaction(() =>
    Passkey.update({ signsIn: false }, { where: { id: String(answer.body.id) } }),
  );
  await set({ password: true });
  await expect(set({ password: false })).rejects.toMatchObject({ code: 'owners_locked_out' });
});

test('P16 if the passkey setting is absent, the password setting applies; methods and explain show the result', async () => {
  const idctl = await openInstance({ baseUrl });
  const org = await organization(idctl);
  const shown = () => showSignInSettings(idctl.operator(), { org: org.slug });
  const set = (given: object) =>
    changeSignInSettings(idctl.operator(), { org: org.slug, ...given });
  const methods = async () =>
    (await idctl.client().get('/api/v1/auth/methods?identifier=ada@example.test')).body.methods;
  expect([(await shown()).passkey, await methods()]).toEqual([true, ['password', 'passkey']]);
  const { account } = await personWithPasskey(idctl);
  const way = async () => {
    const asked = { org: org.slug, user: account.email ?? '' };
    const { ways } = await explain(idctl.operator(), explain.input.parse(asked));
    return ways.find(({ method }) => method === 'passkey');
  };
  expect(await way()).toMatchObject({ on: true, could: true });
  await transaction(() => Passkey.update({ signsIn: false }, { where: { accountId: account.id } }));
  expect(await way()).toMatchObject({
    could: false,
    rule: 'The account has no passkey that signs in.',
  });
  const { owner } = org;
  await addPasskey(await signedIn(idctl, owner.email));
  await set({ password: false, passkey: true });
  expect([(await shown()).passkey, await methods()]).toEqual([true, ['passkey']]);
});

describe('the base URL', () => {
  test.each([
    ['an IP address', 'https://192.0.2.7'],
    ['an IPv6 address', 'https://[2001:db8::7]'],
    ['plain http off loopback', 'http://id.example.test'],
  ])('P16 if it is %s, idctl does not offer passkeys', async (_name, site) => {
    const idctl = await openInstance({ baseUrl: site });
    const unavailable = { status: 409, body: { code: 'passkeys_unavailable' } };
    expect(await idctl.client().post('/api/v1/auth/passkey/options')).toMatchObject(unavailable);
    const { methods } = (await idctl.client().get('/api/v1/auth/methods?identifier=a@b.test')).body;
    expect(methods).not.toContain('passkey');
    const page = await idctl.client().get('/login', { accept: 'text/html' });
    expect(page.body).not.toContain('<script');
    expect(page.headers['content-security-policy']).not.toContain('script-src');
    expect(await checkPasskeys(idctl.app)).toMatchObject({
      name: 'passkeys',
      ok: true,
      message: expect.stringContaining('not available'),
    });
  });

  test('P16 plain http works on loopback, and a page with passkeys runs only one script, from idctl', async () => {
    const idctl = await openInstance({ baseUrl: 'http://localhost:8420' });
    expect(await checkPasskeys(idctl.app)).toBeNull();
    const page = await idctl.client().get('/login', { accept: 'text/html' });
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("script-src 'self'; connect-src 'self'");
    const scripts = [...String(page.body).matchAll(/<script[^>]*>([^<]*)/g)];
    expect(scripts.map(([, inline]) => inline)).toEqual(['']);
    const path = /<script type="module" src="([^"]+)"/.exec(page.body)?.[1] ?? '';
    expect(await idctl.client().get(path)).toMatchObject({
      status: 200,
      headers: { 'content-type': expect.stringContaining('javascript') },
    });
  });
});

test('I3 P12 if an organization reclaims an account, its passkeys stay second factors for its other organizations, but no longer sign in', async () => {
  const idctl = await openInstance({ baseUrl });
  const [one, two] = [await organization(idctl), await organization(idctl)];
  const { account, held } = await personWithPasskey(idctl);
  await addMember(idctl.operator(), { org: two.slug, email: account.email ?? '', role: 'member' });
  await transaction(async () => {
    await Account.update({ emailProof: 'former domain' }, { where: { id: account.id } });
    const now = await Account.findByPk(account.id, { rejectOnEmpty: true });
    await reclaim(idctl.operator(), now, one.id);
    await now.update({ passwordHash: account.id });
  });
  expect(await signInByPasskey(browserOf(idctl), held)).toMatchObject({
    status: 401,
    body: { code: 'signin_failed' },
  });
  const [passkey] = await Passkey.findAll({ where: { accountId: account.id } });
  expect(passkey).toMatchObject({ signsIn: false });
  const now = await Account.findByPk(account.id, { rejectOnEmpty: true });
  expect(now.hasPasskey).toBe(true);
  // Without another organization, all passkeys are removed.
  const other = await personWithPasskey(idctl);
  await transaction(async () => {
    await Account.update({ emailProof: 'none' }, { where: { id: other.account.id } });
    const lone = await Account.findByPk(other.account.id, { rejectOnEmpty: true });
    await reclaim(idctl.operator(), lone, one.id);
  });
  expect(await Passkey.count({ where: { accountId: other.account.id } })).toBe(0);
  const reloaded = await Account.findByPk(other.account.id, { rejectOnEmpty: true });
  expect(reloaded.hasPasskey).toBe(false);
});

test('P12 a passkey added with only a provider’s proof is removed when the account joins another organization, if the account has its own second factor', async () => {
  const idctl = await openInstance({ baseUrl });
  const [one, two] = [await organization(idctl), await organization(idctl)];
  for (const own of [false, true]) {
    const { account, browser } = await personWithPasskey(idctl);
    const { id } = account;
    await transaction(() => Passkey.update({ vouchedBy: one.id }, { where: { accountId: id } }));
    if (own) {
      await transaction(() =>
        Session.update({ secondFactorAt: new Date() }, { where: { accountId: id } }),
      );
      expect((await addPasskey(browser)).answer.status).toBe(201);
    }
    await addMember(idctl.operator(), {
      org: two.slug,
      email: account.email ?? '',
      role: 'member',
    });
    const left = await Passkey.findAll({ where: { accountId: id } });
    expect(left.map(({ vouchedBy }) => vouchedBy)).toEqual([own ? null : one.id]);
  }
});

test.each([
  ['one that it began', false],
  ['one by a passkey that was added in such a session', true],
])(
  'P12 a new passkey ends the sessions that only the provider of one of several organizations proved: %s',
  async (_, byPasskey) => {
    const idctl = await openInstance({ baseUrl });
    const { account, email, browser } = await linkedIn(idctl);
    const [own, other] = [await organization(idctl), await organization(idctl)];
    for (const { slug: org } of [own, other])
      await addMember(idctl.operator(), { org, email, role: 'member' });
    const { url } = await createLoginLink(idctl.operator(), { user: account.id });
    const vouched = browserOf(idctl);
    await (await open(vouched, url.slice(baseUrl.length))).submit('/login/link');
    const { items } = (await vouched.get('/api/v1/me/sessions')).body;
    const { id } = items.find(({ current }: { current: boolean }) => current);
    const bySso = { method: 'sso' as const, organizationId: own.id };
    const marked = { method: 'passkey' as const, vouchedBy: own.id };
    await transaction(() => Session.update(byPasskey ? marked : bySso, { where: { id } }));
    expect((await vouched.get('/api/v1/me')).status).toBe(200);
    expect((await addPasskey(browser)).answer.status).toBe(201);
    expect((await vouched.get('/api/v1/me')).status).toBe(401);
    expect((await browser.get('/api/v1/me')).status).toBe(200);
  },
);

test('P16 removing a passkey ends the other sessions that began with a passkey; in the remaining ones, the second factor no longer counts', async () => {
  const idctl = await openInstance({ baseUrl });
  const { account, held, passkey } = await personWithPasskey(idctl);
  const [here, there, byPassword] = [browserOf(idctl), browserOf(idctl), browserOf(idctl)];
  for (const client of [here, there])
    expect((await signInByPasskey(client, held)).status).toBe(200);
  const given = { email: account.email, password };
  const asked = await byPassword.post('/api/v1/auth/login', given);
  await byPassword.post('/api/v1/auth/login', { ...given, passkey: answerTo(asked, held) });
  const admin = { name: 'all', scope: 'admin' };
  expect((await here.send('DELETE', `/api/v1/me/passkeys/${passkey}`)).status).toBe(204);
  const statuses = await Promise.all(
    [here, there, byPassword].map(async (client) => (await client.get('/api/v1/me')).status),
  );
  expect(statuses).toEqual([200, 401, 200]);
  // A proof by the removed passkey does not count after a new passkey is added.
  expect((await addPasskey(here)).answer.status).toBe(201);
  expect(await byPassword.post('/api/v1/me/tokens', admin)).toMatchObject({ status: 403 });
  // This session added the new passkey, after a recent sign-in.
  expect(await here.post('/api/v1/me/tokens', admin)).toMatchObject({ status: 201 });
});

test('P16 a passkey that may no longer sign in begins no session, even if its sign-in is under way', async () => {
  const idctl = await openInstance({ baseUrl });
  const { account, passkey } = await personWithPasskey(idctl);
  const row = await Account.findByPk(account.id, { rejectOnEmpty: true });
  await transaction(() => Passkey.update({ signsIn: false }, { where: { id: passkey } }));
  await expect(
    transaction(() => enterByPasskey(idctl.operator(), row, passkey)),
  ).rejects.toMatchObject({ code: 'signin_failed' });
});

test('P8 P16 refused passkeys count towards the network’s limit; accepted ones do not', async () => {
  const idctl = await openInstance({ baseUrl, limits: { addressFailures: 2 } });
  const { held } = await personWithPasskey(idctl);
  for (let at = 0; at < 4; at += 1)
    expect((await signInByPasskey(browserOf(idctl), held)).status).toBe(200);
  const wrong = () => signInByPasskey(browserOf(idctl), held, { forged: true });
  expect([(await wrong()).status, (await wrong()).status, (await wrong()).status]).toEqual([
    401, 401, 429,
  ]);
});
