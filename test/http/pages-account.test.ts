import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { storeServer } from '../../src/cli/remote/servers.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { appOf } from '../support/apps.ts';
import { fresh, organization, password, person, signedIn } from '../support/builders.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { open } from '../support/pages.ts';
import { connected, registration, signInAt } from '../support/sso.ts';
import { typeLine } from '../support/typing.ts';

// Tests the content of the account page. Most tests of its forms are in test/http/pages.test.ts.

let idctl: MailingIdctl;
let provider: OpenIdProvider;
beforeAll(async () => {
  idctl = await openMailingIdctl({
    outbound: { allow: ['127.0.0.1'] },
    social: { github: { clientId: 'idctl', clientSecret: 'a secret of GitHub' } },
  });
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const redirect_uris = [`${idctl.baseUrl}/auth/sso/callback`];
  provider = await startOpenIdProvider({ clients: [{ client_id, client_secret, redirect_uris }] });
});
afterAll(async () => {
  await idctl.close();
  await provider.stop();
});

/** Signs a person in by single sign-on of a new organization. `page` opens the account page. */
async function arrived(more: Record<string, unknown> = {}) {
  const { org, domain } = await connected(idctl, provider.issuer, more);
  const sub = fresh('grace');
  const email = `${sub}@${domain}`;
  provider.people.set(sub, { email, email_verified: true, name: 'Grace' });
  const { client } = await signInAt(idctl, provider, domain, sub);
  return { client, org, email, page: () => open(client, '/') };
}

test('without a password, the account page has no form to change it; a mailed code sets one', async () => {
  const { page, email } = await arrived();
  const first = await page();
  expect(first.text).toContain('Your account has no password. You sign in another way.');
  expect(first.body).not.toContain('name="currentPassword"');
  const asked = await first.submit('/login/reset');
  expect(asked.text).toContain('Choose a new password');
  const newPassword = 'a staple of another kind';
  const code = await idctl.codeFor(email);
  const done = await asked.submit('/login/reset/confirm', { code, newPassword });
  const entered = await done.submit('/login/password', { password: newPassword });
  expect([entered.text, entered.body]).toEqual([
    expect.stringContaining('Sign out'),
    expect.stringContaining('name="currentPassword"'),
  ]);
});

test('P16 where passkeys do not work, a person with an old session confirms it by password and connects GitHub', async () => {
  const ada = await person(idctl);
  const client = await signedIn(idctl, ada.email);
  idctl.wait(11 * 60);
  const refused = await (await open(client, '/')).submit('/account/social', { provider: 'github' });
  expect(refused.text).toContain('Confirm that it is you first.');
  expect(refused.body).not.toContain('id="passkeys"');
  const mistaken = await refused.submit('/account/confirm', { password: 'not the password' });
  expect(mistaken.text).toContain('Before you connect an account, confirm that it is you.');
  const away = await mistaken.submit('/account/confirm', { password });
  expect(away.text).toContain('Continue to GitHub');
});

test('P12 the page says for each single sign-on whether it also requires the second factor', async () => {
  const own = await arrived();
  const text = async () => (await own.page()).text;
  expect(await text()).toContain('a password, a code by mail, a directory, Google or GitHub');
  expect(await text()).toContain(`Single sign-on of ${own.org.name}: not required here`);
  await addMember(idctl.operator(), {
    org: (await organization(idctl)).slug,
    email: own.email,
    role: 'member',
  });
  expect(await text()).toContain(`Single sign-on of ${own.org.name}: required here too.`);
  const strict = await arrived({ requireLocalTwoFactor: true });
  expect((await strict.page()).text).toContain(
    `Single sign-on of ${strict.org.name}: required here too.`,
  );
  const { email } = await person(idctl);
  expect((await open(await signedIn(idctl, email), '/')).text).not.toContain('Single sign-on of');
});

test('sessions and tokens show their organization and method', async () => {
  const { page, org } = await arrived();
  expect((await page()).text).toContain(`with single sign-on of ${org.name}, just now`);
  const client = await signedIn(idctl, org.owner.email);
  const user = (await client.get('/api/v1/me')).body.id;
  await createToken(idctl.operator(), { user, name: 'backups' });
  await (await appOf(idctl, { user, name: 'builder', organization: org.slug })).mint();
  const { text } = await open(client, '/');
  expect(text).toContain('with password, just now');
  expect(text).toContain(`It works in all your organizations: ${org.name}.`);
  expect(text).toContain('Personal token · scope write');
  expect(text).toContain(`Bot token of the app builder of ${org.name} · scope write`);
});

test('the address that the command line gives for the account page answers with that page', async () => {
  const home = await mkdtemp(join(tmpdir(), 'idctl-hints-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const stored = { url: idctl.baseUrl, token: 'cos_pat_e' };
  await storeServer({ HOME: home }, { name: 'acme', ...stored });
  const client = await signedIn(idctl, (await person(idctl)).email);
  for (const words of [['org', 'list'], ['logout']]) {
    const { err } = await typeLine(words, { HOME: home });
    const [, address = ''] = /on the account page, (http\S+)\. /.exec(err) ?? [];
    const page = await open(client, address.replace(idctl.baseUrl, ''));
    expect([address, page.status, page.text]).toEqual([
      expect.stringContaining(idctl.baseUrl),
      200,
      expect.stringContaining('Sign out'),
    ]);
  }
});

test('P18 a person changes the address on the account page: address, code, done', async () => {
  const ada = await person(idctl);
  const client = await signedIn(idctl, ada.email);
  idctl.wait(11 * 60);
  const email = `${fresh('new')}@example.test`;
  const first = await open(client, '/');
  expect(first.text).toContain('Change your e-mail address');
  const refused = await first.submit('/account/email', { email });
  expect(refused.text).toContain('Before you change your address, confirm that it is you.');
  // After a wrong password too, the confirmation goes on with the address that was typed.
  const tried = await refused.submit('/account/confirm', { password: 'not the password' });
  expect(tried.status).toBe(400);
  const asked = await tried.submit('/account/confirm', { password });
  expect(asked.text).toContain(`If this address is free, we sent it a code: ${email}`);
  const mistaken = await asked.submit('/account/email/confirm', { code: '000000' });
  expect([mistaken.status, mistaken.text]).toEqual([
    401,
    expect.stringContaining('This code is wrong or has expired. Request a new one.'),
  ]);
  // Letters that are sent together arrive in any order.
  await idctl.deliver();
  const again = await mistaken.submit('/account/email');
  const done = await again.submit('/account/email/confirm', { code: await idctl.codeFor(email) });
  expect(done.text).toContain('Your e-mail address was changed. You are signed out everywhere');
  expect(done.text).toContain(`E-mail address ${email}`);
  const wrong = await (await open(client, '/')).submit('/account/email', { email: 'no address' });
  expect(wrong.text).toContain('E-mail address must be an e-mail address');
  expect(wrong.body).toContain('<details open><summary>Change your e-mail address</summary>');
});

test('P16 a confirmation sends only the listed forms again, and none before it succeeds', async () => {
  const ada = await person(idctl);
  const client = await signedIn(idctl, ada.email);
  idctl.wait(11 * 60);
  const email = `${fresh('new')}@example.test`;
  const refused = await (await open(client, '/')).submit('/account/email', { email });
  const wrong = await refused.submit('/account/confirm', { password: 'not the password' });
  expect(wrong.text).not.toContain('we sent it a code');
  const given = { again: '/account/sign-out', fields: '{}', password };
  const other = await refused.submit('/account/confirm', given);
  expect(other.status).toBe(400);
  expect((await open(client, '/')).text).toContain('Sign out');
});

test('P16 a form that a confirmation sends again cannot contain NUL', async () => {
  const ada = await person(idctl);
  const client = await signedIn(idctl, ada.email);
  idctl.wait(11 * 60);
  const refused = await (await open(client, '/')).submit('/account/leaving');
  const fields = JSON.stringify({ org: 'a\0', kind: 'sso', pointsAt: 'none' });
  const given = { again: '/account/connections/approve', fields, password };
  const answer = await refused.submit('/account/confirm', given);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('a NUL character')]);
});

test('P18 the page of a taken address is the same as that of a free one', async () => {
  const ada = await person(idctl);
  const client = await signedIn(idctl, ada.email);
  const texts = [];
  for (const email of [`${fresh('new')}@example.test`, (await person(idctl)).email ?? '']) {
    const asked = await (await open(client, '/')).submit('/account/email', { email });
    texts.push([asked.status, asked.text.replaceAll(email, 'EMAIL')]);
  }
  expect(texts[0]).toEqual(texts[1]);
});

test('P18 before anything is typed, the page says that the address is managed, or that no mail is sent', async () => {
  const { page } = await arrived();
  const managed = await page();
  expect(managed.text).toContain('An organization manages your e-mail address,');
  expect(managed.body).not.toContain('action="/account/email#profile"');
  const client = await signedIn(idctl, (await person(idctl)).email);
  const { smtpUrl } = idctl.app.config.mail;
  delete idctl.app.config.mail.smtpUrl;
  const without = await open(client, '/');
  idctl.app.config.mail.smtpUrl = smtpUrl;
  expect(without.text).toContain(
    'because this service does not send mail. Ask the person who runs this service, such as your IT department: they can set up mail, or create a new account with the new address.',
  );
  expect(without.body).not.toContain('action="/account/email#profile"');
});
