import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { organization, password, person, signedIn, verifiedDomain } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { open } from '../support/pages.ts';
import { registration } from '../support/sso.ts';

// The account page shows owners the connections that wait for their approval (security I8).

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ limits: { enabled: 'off' } });
});
afterAll(() => idctl.close());

/** An organization with a connection that its owner saved, its owner and its admin. */
async function site() {
  const org = await organization(idctl);
  const mallory = await person(idctl);
  await addMember(idctl.operator(), { org: org.slug, email: mallory.email ?? '', role: 'admin' });
  const emailDomain = await verifiedDomain(idctl, org.slug);
  const owner = await signedIn(idctl, org.owner.email);
  const admin = await signedIn(idctl, mallory.email);
  const path = `/api/v1/orgs/${org.slug}/sso`;
  const settings = { emailDomain, issuer: 'https://id.acme.test', ...registration };
  expect((await owner.send('PUT', path, { body: settings })).status).toBe(200);
  const change = async (by: Client, issuer: string) => {
    const body = { issuer, clientSecret: 'another secret' };
    expect((await by.send('PATCH', path, { body })).status).toBe(200);
  };
  const approved = async () => (await owner.get(path)).body.approved;
  return { org, mallory, owner, admin, path, change, approved };
}

const title = 'Connections to approve';
const action = '/account/connections/approve';

describe('I8 the account page of an owner', () => {
  test('I8 shows old and new values and who changed them, and approves without script', async () => {
    const { org, mallory, owner, admin, change, approved } = await site();
    expect((await open(owner, '/')).text).not.toContain(title);
    await change(admin, 'https://evil.test');
    const page = await open(owner, '/');
    for (const shown of [
      title,
      `Single sign-on of ${org.name}`,
      `Changed, by Ada Byron (${mallory.email}).`,
      'It is switched off.',
      'Provider (issuer) https://evil.test Before: https://id.acme.test',
      'Values that did not change E-mail domain',
    ])
      expect(page.text).toContain(shown);
    expect((await open(admin, '/')).text).not.toContain(title);
    const done = await page.submit(action);
    expect(done.text).toContain('The connection was approved.');
    expect(done.body).not.toContain(action);
    expect(await approved()).toBe(true);
  });

  test('I8 says in words if the connection has changed since, and shows the new values', async () => {
    const { owner, admin, change, approved } = await site();
    await change(admin, 'https://one.test');
    const page = await open(owner, '/');
    await change(admin, 'https://two.test');
    const refused = await page.submit(action);
    expect(refused.text).toContain('changed');
    expect(refused.text).toContain('https://two.test');
    expect(refused.body).toContain('role="alert"');
    expect(await approved()).toBe(false);
    expect((await refused.submit(action)).text).toContain('The connection was approved.');
    expect(await approved()).toBe(true);
  });

  test('I8 asks a person with an old session to confirm, then approves', async () => {
    const { owner, admin, change, approved } = await site();
    await change(admin, 'https://new.test');
    idctl.wait(11 * 60);
    const refused = await (await open(owner, '/')).submit(action);
    expect(refused.text).toContain('Before you approve a connection, confirm that it is you.');
    expect(await approved()).toBe(false);
    const confirmed = await refused.submit('/account/confirm', { password });
    expect(confirmed.text).toContain('The connection was approved.');
    expect(await approved()).toBe(true);
  });

  test('I8 shows a new connection, a directory and its certificate authority', async () => {
    const { org, mallory, owner, admin } = await site();
    const body = {
      uri: 'ldap://127.0.0.1',
      tls: false,
      bindDn: 'cn=<idctl>,dc=acme',
      bindPassword: 'a password',
      searchBase: 'dc=acme',
      searchFilter: '(uid={username})',
      emailAttribute: 'mail',
    };
    const path = `/api/v1/orgs/${org.slug}/ldap`;
    expect((await admin.send('PUT', path, { body })).status).toBe(200);
    const { text, body: markup } = await open(owner, '/');
    expect(text).toContain(`Directory of ${org.name} New, by Ada Byron (${mallory.email}).`);
    expect(text).toContain(
      'Server ldap://127.0.0.1 TLS off Certificate authority (SHA-256) the public ones',
    );
    expect(markup).toContain('cn=&lt;idctl&gt;,dc=acme');
    expect(text).not.toContain('Before:');
  });
});
