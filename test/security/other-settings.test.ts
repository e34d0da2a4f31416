import { describe, expect, test } from 'vitest';
import { createPasswordHasher } from '../../src/crypto/password.ts';
import { Account } from '../../src/database/models/account.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { transaction } from '../../src/database/transaction.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { fresh, organization, password, person, signedIn } from '../support/builders.ts';
import type { Idctl } from '../support/idctl.ts';
import { openInstance } from '../support/instance.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { comeBack, connected, registration } from '../support/sso.ts';
import { enrolled } from '../support/two-factor.ts';
import { failed, returning } from './returning.ts';

// These tests check rules that depend on settings.

const outbound = { allow: ['127.0.0.1'] };

/** Adds a connection for an unverified domain, which `trust.domains: off` allows. */
async function unproven(idctl: Idctl, provider: LyingProvider) {
  const { slug: org } = await organization(idctl);
  const domain = `${fresh('d')}.test`;
  const input = {
    org,
    emailDomain: domain,
    issuer: provider.issuer,
    ...registration,
    enabled: true,
  };
  await saveSso(idctl.operator(), saveSsoInput.parse(input));
  return { org, domain };
}

describe('I1 I2 trust.domains: off', () => {
  test('I2 single sign-on does not need a verified domain', async () => {
    const idctl = await openInstance({ outbound, trust: { domains: 'off' } });
    const provider = await startLyingProvider(registration.clientId, '');
    const { domain } = await unproven(idctl, provider);
    const { browser, callback, userinfo } = await returning(idctl, provider, { domain });
    expect((await comeBack(browser, callback)).body.user.email).toBe(userinfo.email);
    await provider.stop();
  });

  test('I1 if a provider does not send a subject, the address identifies the account, and a new address makes a new account', async () => {
    const idctl = await openInstance({ outbound, trust: { domains: 'off' } });
    const provider = await startLyingProvider(registration.clientId, '');
    const { domain } = await unproven(idctl, provider);
    const email = `ada@${domain}`;
    const come = async (address: string) => {
      const claims = { sub: undefined, email: address };
      const { browser, callback, answerToken } = await returning(idctl, provider, {
        domain,
        claims,
      });
      answerToken();
      return comeBack(browser, callback);
    };
    const [first, again, another] = [
      await come(email),
      await come(email.toUpperCase()),
      await come(`eve@${domain}`),
    ];
    expect([first.status, again.status, another.status]).toEqual([200, 200, 200]);
    expect(again.body.user.id).toBe(first.body.user.id);
    expect(another.body.user.id).not.toBe(first.body.user.id);
    expect(await Identity.count({ where: { subject: email } })).toBe(1);
    await provider.stop();
  });

  test('I2 the address must still be on the connection’s domain', async () => {
    const idctl = await openInstance({ outbound, trust: { domains: 'off' } });
    const provider = await startLyingProvider(registration.clientId, '');
    const { domain } = await unproven(idctl, provider);
    const { email } = await person(idctl);
    const { browser, callback } = await returning(idctl, provider, { domain, claims: { email } });
    expect(await comeBack(browser, callback)).toMatchObject(failed);
    await provider.stop();
  });

  test('P12 a member of another organization is still asked for the second factor', async () => {
    const idctl = await openInstance({ outbound, trust: { domains: 'off' } });
    const provider = await startLyingProvider(registration.clientId, '');
    const { domain } = await unproven(idctl, provider);
    const { account } = await enrolled(idctl, `ada@${domain}`);
    const email = account.email ?? '';
    const come = async () => {
      const { browser, callback } = await returning(idctl, provider, { domain, claims: { email } });
      return comeBack(browser, callback);
    };
    const tenant = await organization(idctl);
    await addMember(idctl.operator(), { org: tenant.slug, email, role: 'member' });
    const asked = { status: 401, body: { code: 'second_factor_required' } };
    expect(await come()).toMatchObject(asked);
    await provider.stop();
  });

  test('I2 an e-mail domain has at most one enabled connection, even if it is not verified', async () => {
    const idctl = await openInstance({ outbound, trust: { domains: 'off' } });
    const provider = await startLyingProvider(registration.clientId, '');
    const { domain } = await unproven(idctl, provider);
    const { slug: org } = await organization(idctl);
    const input = { org, emailDomain: domain, issuer: provider.issuer, ...registration };
    const save = (enabled: boolean) =>
      saveSso(idctl.operator(), saveSsoInput.parse({ ...input, enabled }));
    await expect(save(true)).rejects.toMatchObject({ code: 'domain_taken' });
    await save(false);
    await provider.stop();
  });
});

describe('S3 a base URL in plain http, not on loopback', () => {
  test('S3 every client, browser or not, must send the flow cookie that the sign-in began with', async () => {
    const idctl = await openInstance({ outbound, baseUrl: 'http://id.example.test' });
    const provider = await startLyingProvider(registration.clientId, '');
    const { domain } = await connected(idctl, provider.issuer);
    const { callback } = await returning(idctl, provider, { domain });
    const { pathname, search } = new URL(callback);
    const client = idctl.client();
    expect(await client.get(pathname + search)).toMatchObject(failed);
    const other = await returning(idctl, provider, { domain });
    expect((await comeBack(other.browser, other.callback)).status).toBe(200);
    await provider.stop();
  });
});

describe('P6 a raised cost', () => {
  test('P6 the next sign-in hashes the password again; one with a wrong password does not', async () => {
    const idctl = await openInstance();
    const { email, id } = await person(idctl);
    const costly = createPasswordHasher({ memory: 20_480, time: 3, lanes: 1 });
    const hashOf = async () =>
      (await Account.findByPk(id, { rejectOnEmpty: true })).passwordHash ?? '';
    const before = await hashOf();
    Object.assign(idctl.app.passwords, costly);
    const wrong = await idctl.client().post('/api/v1/auth/login', { email, password: 'wrong' });
    expect([wrong.status, await hashOf()]).toEqual([401, before]);
    await signedIn(idctl, email);
    expect(await hashOf()).toContain('m=20480,');
    expect(await costly.verify(await hashOf(), password)).toBe(true);
    await signedIn(idctl, email);
  });

  test('P5 P6 a password that is changed while the old one is hashed again stays changed, and the sign-in fails', async () => {
    const idctl = await openInstance();
    const { email, id } = await person(idctl);
    const costly = createPasswordHasher({ memory: 20_480, time: 3, lanes: 1 });
    const passwordHash = await costly.hash('another staple');
    const hash: typeof costly.hash = async (...given) => {
      const raised = await costly.hash(...given);
      await transaction(() => Account.update({ passwordHash }, { where: { id } }));
      return raised;
    };
    Object.assign(idctl.app.passwords, costly, { hash });
    const answer = await idctl.client().post('/api/v1/auth/login', { email, password });
    expect(answer.status).toBe(401);
    expect((await Account.findByPk(id))?.passwordHash).toBe(passwordHash);
  });
});
