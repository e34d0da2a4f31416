import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account, type EmailProof } from '../../src/database/models/account.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { OutboxItem } from '../../src/database/models/outbox-item.ts';
import { transaction } from '../../src/database/transaction.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { createUser } from '../../src/services/people/users/operations.ts';
import { removeDomain } from '../../src/services/tenancy/domains/operations.ts';
import { createInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { listMembers } from '../../src/services/tenancy/memberships/operations.ts';
import { showUser } from '../../src/services/tenancy/profile/operations.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { fresh, organization, password, signedIn, verifiedDomain } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { open } from '../support/pages.ts';
import { connected, registration, signInAt } from '../support/sso.ts';
import { enrolled } from '../support/two-factor.ts';

// A stranger makes an account with a victim's address before the victim signs up: the attacks of
// Sudhodanan and Paverd, "Pre-hijacked accounts" (USENIX Security 2022). The instance sends mail.
// The tests with Google and GitHub are in social.test.ts.

let idctl: MailingIdctl;
let provider: OpenIdProvider;
beforeAll(async () => {
  idctl = await openMailingIdctl({
    signup: { open: 'on' },
    signin: { magicCode: 'on' },
    outbound: { allow: ['127.0.0.1'] },
  });
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const redirect_uris = [`${idctl.baseUrl}/auth/sso/callback`];
  provider = await startOpenIdProvider({ clients: [{ client_id, client_secret, redirect_uris }] });
});
afterAll(async () => {
  await idctl?.close();
  await provider?.stop();
});

const theirPassword = 'a staple of another kind';
const post = (path: string, body: object) => idctl.client().post(`/api/v1/auth/${path}`, body);
const login = async (email: string, secret: string) =>
  (await post('login', { email, password: secret })).status;
const address = () => `${fresh('victim')}@example.test`;

/** Makes the provider assert a new person with this verified address; returns the subject. */
function asserted(email: string): string {
  const sub = fresh('sub');
  provider.people.set(sub, { email, email_verified: true, name: 'Ada Byron' });
  return sub;
}

/** Signs up as the attacker, with the victim's address; returns the address. */
async function squat(email = address()): Promise<string> {
  await post('signup', { email, password, name: 'Mallory', locale: 'fr' });
  await idctl.deliver();
  return email;
}

/**
 * Gives the attacker a session, a token, a second factor and an identity on an account whose
 * address is unproved. With `auto`, the account is from a time when the instance sent no mail.
 */
async function squatWhole(emailProof: EmailProof) {
  const { account, client, code } = await enrolled(idctl, address());
  const { token } = await createToken(idctl.operator(), { user: account.id, name: 'for later' });
  const { org } = await connected(idctl, provider.issuer);
  await transaction(async () => {
    await Account.update({ emailProof }, { where: { id: account.id } });
    await Identity.create({
      id: crypto.randomUUID(),
      accountId: account.id,
      kind: 'sso',
      connectionId: org.id,
      organizationId: org.id,
      issuer: provider.issuer,
      subject: 'mallory',
      linkedAt: new Date(),
    });
  });
  const leftovers = async () => ({
    session: (await client.get('/api/v1/me')).status,
    token: (await idctl.client().get('/api/v1/me', { 'x-api-key': token })).status,
    password: await login(account.email ?? '', password),
    identities: await Identity.count({ where: { accountId: account.id } }),
    twoFactor: (await Account.findByPk(account.id))?.totpEnabledAt !== null,
  });
  return { email: account.email ?? '', code, leftovers };
}

const nothing = { session: 401, token: 401, password: 401, identities: 0, twoFactor: false };

describe('pre-hijacking', () => {
  // Each client may have only 30 refused attempts a minute.
  beforeEach(() => idctl.wait(61));

  test('P11 classic-federated merge: the password of the first person to sign up is removed when single sign-on proves the address', async () => {
    const { domain } = await connected(idctl, provider.issuer);
    const email = `${fresh('victim')}@${domain}`;
    // Sign up with another address first, because the organization's domain refuses sign-ups.
    const squatted = await squat();
    await transaction(() => Account.update({ email }, { where: { email: squatted } }));
    const sub = asserted(email);
    const { answer } = await signInAt(idctl, provider, domain, sub);
    expect(answer).toMatchObject({ status: 200, body: { user: { email, emailVerified: true } } });
    expect(await login(email, password)).toBe(401);
  });

  describe('P11 a person who confirms the address keeps only a password of their own', () => {
    const browser = () => idctl.client({ keepCookies: true });
    const given = (email: string) => ({ email, password: theirPassword, name: 'Ada Byron' });
    const confirm = async (client: Client, email: string) =>
      client.post('/api/v1/auth/verify-email', { email, code: await idctl.codeFor(email) });

    test('P11 trojan password: if a stranger signs up after the person, the newest code removes both passwords, and the person chooses a new one', async () => {
      const email = address();
      const victim = browser();
      const asked = await (await open(victim, '/login/signup')).submit(
        '/login/signup',
        given(email),
      );
      await idctl.deliver();
      await squat(email);
      const confirmed = await asked.submit('/login/verify', { code: await idctl.codeFor(email) });
      expect([confirmed.status, confirmed.text]).toEqual([
        200,
        expect.stringContaining('you are signed in'),
      ]);
      expect([await login(email, password), await login(email, theirPassword)]).toEqual([401, 401]);
      expect((await victim.get('/api/v1/me')).body).toMatchObject({ email, emailVerified: true });
      const choosing = await confirmed.submit('/login/reset');
      const code = await idctl.codeFor(email);
      await choosing.submit('/login/reset/confirm', { code, newPassword: theirPassword });
      expect([await login(email, password), await login(email, theirPassword)]).toEqual([401, 200]);
    });

    test('P11 trojan password: if a stranger signs up first, or alone, the stranger’s password is removed when the person types the code', async () => {
      const [first, alone] = [await squat(), await squat()];
      const victim = browser();
      await victim.post('/api/v1/auth/signup', given(first));
      expect((await confirm(victim, first)).status).toBe(200);
      expect([await login(first, password), await login(first, theirPassword)]).toEqual([401, 200]);
      const screen = await open(
        browser(),
        `/login/verify?${new URLSearchParams({ identifier: alone })}`,
      );
      await screen.submit('/login/verify', { code: await idctl.codeFor(alone) });
      expect(await login(alone, password)).toBe(401);
    });

    /** Confirms without cookies. Returns the status, `passwordKept` and both sign-ins' statuses. */
    async function confirmBare(email: string, more: object = {}) {
      const { status, body } = await post('verify-email', {
        email,
        code: await idctl.codeFor(email),
        ...more,
      });
      const opened = [await login(email, password), await login(email, theirPassword)];
      return [status, body.passwordKept, ...opened];
    }
    const ended = [200, false, 401, 401];

    test('P11 a client without the cookie keeps the password only by sending it with the code', async () => {
      const [own, bare, spaced, contested] = [address(), address(), address(), address()];
      const member = address();
      await unproved(member);
      const { slug: org } = await organization(idctl);
      await addMember(idctl.operator(), { org, email: member, role: 'member' });
      for (const email of [own, bare, spaced, contested, member])
        await post('signup', given(email));
      await idctl.deliver();
      await squat(contested);
      // Even a single sign-up may be a stranger's.
      expect(await confirmBare(bare)).toEqual(ended);
      for (const email of [own, member])
        expect(await confirmBare(email, { password: theirPassword })).toEqual([
          200,
          true,
          401,
          200,
        ]);
      expect(await confirmBare(spaced, { password: ` ${theirPassword}` })).toEqual(ended);
      expect(await confirmBare(contested, { password: theirPassword })).toEqual(ended);
    });

    test('P11 the cookie of another sign-up does not keep the password; the password sent with the code does', async () => {
      const emails = [address(), address()] as const;
      const client = browser();
      for (const email of emails) await post('signup', given(email));
      await client.post('/api/v1/auth/signup', given(address()));
      for (const [at, more] of [{}, { password: theirPassword }].entries()) {
        const email = emails[at] ?? '';
        const code = await idctl.codeFor(email);
        const { body } = await client.post('/api/v1/auth/verify-email', { email, code, ...more });
        expect([body.passwordKept, await login(email, theirPassword)]).toEqual([
          at === 1,
          at === 1 ? 200 : 401,
        ]);
      }
    });

    test('P11 P7 a password sent with the code cannot be guessed: one wrong guess with the right code removes it', async () => {
      const [typo, guessed] = [await squat(), await squat()];
      // With a wrong code, the answer is the same for every password.
      const wrong = (await idctl.codeFor(guessed)) === '000000' ? '111111' : '000000';
      const seen = [];
      for (const more of [{}, { password }, { password: 'another one' }]) {
        const { status, body } = await post('verify-email', {
          email: guessed,
          code: wrong,
          ...more,
        });
        seen.push({ status, ...body, requestId: '' });
      }
      expect(seen).toEqual([seen[0], seen[0], seen[0]]);
      const code = await idctl.codeFor(typo);
      const first = await post('verify-email', { email: typo, code, password: 'another one' });
      expect(first).toMatchObject({
        status: 200,
        body: { passwordKept: false, user: { emailVerified: true } },
      });
      expect(await post('verify-email', { email: typo, code, password })).toMatchObject({
        status: 401,
        body: { code: 'code_invalid' },
      });
      expect(await login(typo, password)).toBe(401);
    });

    test('P11 a client cannot keep the password of a sign-up that still waits in the queue', async () => {
      const waiting = await squat();
      const early = await idctl.codeFor(waiting);
      await post('signup', given(waiting));
      const { body } = await post('verify-email', {
        email: waiting,
        code: early,
        password: theirPassword,
      });
      await idctl.deliver();
      const opened = [await login(waiting, password), await login(waiting, theirPassword)];
      expect([body.passwordKept, ...opened]).toEqual([false, 401, 401]);
    });

    test('P11 if a stranger and the person sign up at the same moment, neither password is kept, and no mail stays in the queue', async () => {
      const emails = Array.from({ length: 4 }, address);
      for (const email of emails) {
        await Promise.all([
          post('signup', { ...given(email), password }),
          post('signup', given(email)),
        ]);
        // Either of the two mails may arrive first; only the code of the newer sign-up works.
        const statuses: number[] = [];
        for (const { text } of await idctl.lettersTo(email)) {
          const code = /\b\d{6}\b/.exec(text)?.[0];
          statuses.push((await post('verify-email', { email, code })).status);
        }
        expect(statuses.sort()).toEqual([200, 401]);
      }
      for (const email of emails)
        expect([await login(email, password), await login(email, theirPassword)]).toEqual([
          401, 401,
        ]);
      expect(await OutboxItem.count({ where: { kind: 'mail' } })).toBe(0);
    });
  });

  test('P11 unexpired session: an account with an unproved address cannot start a session', async () => {
    const email = await squat();
    expect(await login(email, password)).toBe(401);
    await post('password/reset', { email });
    const code = await idctl.codeFor(email);
    expect(
      (await post('password/reset/confirm', { email, code, newPassword: theirPassword })).status,
    ).toBe(204);
    expect([await login(email, password), await login(email, theirPassword)]).toEqual([401, 200]);
  });

  test('P11 O6 if a stranger signs up with an invitation, the person becomes no member without accepting it', async () => {
    idctl.wait(61);
    const org = await organization(idctl);
    const emails = [address(), address()];
    for (const email of emails) {
      const { token: invitation } = await createInvitation(idctl.operator(), {
        org: org.slug,
        email,
        role: 'admin',
      });
      await post('signup', { email, password, name: 'Mallory', invitation });
      await idctl.deliver();
    }
    const [signingUp, resetting] = emails;
    const client = idctl.client({ keepCookies: true });
    await client.post('/api/v1/auth/signup', {
      email: signingUp,
      password: theirPassword,
      name: 'Ada Byron',
    });
    const code = await idctl.codeFor(signingUp ?? '');
    expect(
      (await client.post('/api/v1/auth/verify-email', { email: signingUp, code })).status,
    ).toBe(200);
    await post('password/reset', { email: resetting });
    const reset = {
      email: resetting,
      code: await idctl.codeFor(resetting ?? ''),
      newPassword: theirPassword,
    };
    await post('password/reset/confirm', reset);
    for (const email of emails) {
      const { accessToken } = (await post('login', { email, password: theirPassword })).body;
      const me = await idctl.client().get('/api/v1/me', { authorization: `Bearer ${accessToken}` });
      expect(me.body).toMatchObject({ email, organizations: [] });
    }
  });

  const unproven = ['none', 'auto'] as const;

  test.each(unproven)(
    'P11 I3 unexpired session and trojan identity (%s): a reset removes everything that an earlier holder left, including the second factor',
    async (proof) => {
      const { email, leftovers } = await squatWhole(proof);
      await post('password/reset', { email });
      const code = await idctl.codeFor(email);
      expect(
        (await post('password/reset/confirm', { email, code, newPassword: theirPassword })).status,
      ).toBe(204);
      expect(await leftovers()).toEqual(nothing);
      await post('login', { email, password: theirPassword });
      expect(await login(email, theirPassword)).toBe(200);
    },
  );

  test.each(unproven)(
    'P11 I3 unexpired session and trojan identity (%s): a sign-in code also removes everything that an earlier holder left',
    async (proof) => {
      const { email, leftovers } = await squatWhole(proof);
      await post('magic-code', { email });
      const answer = await post('magic-code/verify', { email, code: await idctl.codeFor(email) });
      expect(answer).toMatchObject({
        status: 200,
        body: { user: { emailVerified: true, twoFactorEnabled: false } },
      });
      expect(await leftovers()).toEqual(nothing);
    },
  );

  test('P11 a sign-in code removes nothing if the account’s address is proved', async () => {
    const { account, client, code: totp } = await enrolled(idctl, address());
    const email = account.email ?? '';
    await post('magic-code', { email });
    const answer = await post('magic-code/verify', {
      email,
      code: await idctl.codeFor(email),
      totpCode: totp(),
    });
    expect(answer.status).toBe(200);
    expect((await client.get('/api/v1/me')).body).toMatchObject({ twoFactorEnabled: true });
  });

  test('P12 I3 a person whose domain was given up keeps everything after a mailed code, until another organization verifies the domain', async () => {
    const { org, domain } = await connected(idctl, provider.issuer);
    const { account, code: totpCode } = await enrolled(idctl, `${fresh('ada')}@${domain}`);
    const email = account.email ?? '';
    await transaction(() =>
      Account.update({ emailProof: 'domain' }, { where: { id: account.id } }),
    );
    const { token } = await createToken(idctl.operator(), { user: account.id, name: 'for later' });
    const own = async () => [
      await login(email, password),
      (await idctl.client().get('/api/v1/me', { 'x-api-key': token })).status,
    ];
    await removeDomain(idctl.operator(), { org: org.slug, domain });

    await post('magic-code', { email });
    const mailed = { email, code: await idctl.codeFor(email) };
    const asked = { status: 401, body: { code: 'second_factor_required' } };
    expect(await post('magic-code/verify', mailed)).toMatchObject(asked);
    const answer = await post('magic-code/verify', { ...mailed, totpCode: totpCode() });
    expect(answer).toMatchObject({ status: 200, body: { user: { twoFactorEnabled: true } } });
    await post('password/reset', { email });
    const reset = { email, code: await idctl.codeFor(email), newPassword: theirPassword };
    expect(await post('password/reset/confirm', reset)).toMatchObject(asked);
    expect(await own()).toEqual([401, 200]);

    const next = {
      org: (await organization(idctl)).slug,
      emailDomain: domain,
      issuer: provider.issuer,
    };
    await verifiedDomain(idctl, next.org, domain);
    await saveSso(
      idctl.operator(),
      saveSsoInput.parse({ ...next, ...registration, enabled: true }),
    );
    const { answer: reclaimed } = await signInAt(idctl, provider, domain, asserted(email));
    expect(reclaimed).toMatchObject({
      status: 200,
      body: { user: { id: account.id, twoFactorEnabled: false } },
    });
    expect(await own()).toEqual([401, 401]);
  });

  test('I4 non-verifying provider: an organization that pushes a foreign address cannot sign in with it', async () => {
    const email = address();
    const { org } = await connected(idctl, provider.issuer);
    const owner = await signedIn(idctl, org.owner.email);
    const { token, baseUrl } = (await owner.post(`/api/v1/orgs/${org.slug}/scim-token`)).body;
    const created = await idctl.client().send('POST', `${new URL(baseUrl).pathname}/Users`, {
      body: {
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        userName: email,
        active: true,
      },
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
    });
    expect(created.status).toBe(201);
    expect(await Account.findOne({ where: { email } })).toMatchObject({
      emailProof: 'none',
      passwordHash: null,
    });
    expect(await showUser(idctl.operator(), { user: email })).toMatchObject({
      emailVerified: false,
    });
    // A provider asserts the address, but its organization does not have the domain.
    const sub = asserted(email);
    const { domain } = await connected(idctl, provider.issuer);
    expect((await signInAt(idctl, provider, domain, sub)).answer.status).toBe(401);
    // The person who reads the mail can confirm the address.
    await post('verify-email/resend', { email });
    const answer = await post('verify-email', { email, code: await idctl.codeFor(email) });
    expect(answer).toMatchObject({ status: 200, body: { user: { email, emailVerified: true } } });
  });

  test.each(['before', 'after'])(
    'P11 I4 trojan password: a password that a stranger chose %s the person became a member is removed when the address is proved',
    async (when) => {
      const { slug: org } = await organization(idctl);
      const email = address();
      if (when === 'before') await squat(email);
      else await unproved(email);
      await addMember(idctl.operator(), { org, email, role: 'admin' });
      if (when === 'after') await squat(email);
      const { items } = await listMembers(idctl.operator(), { org, limit: 50 });
      const shown = items.find((each) => each.email === email)?.name;
      expect(shown).toBe(when === 'before' ? 'Mallory' : 'Ada Byron');
      const { locale } = await Account.findOne({ where: { email }, rejectOnEmpty: true });
      expect(locale).toBe(when === 'before' ? 'fr' : 'en');
      // The person never signed up, so they request a new code.
      await post('verify-email/resend', { email });
      const answer = await post('verify-email', { email, code: await idctl.codeFor(email) });
      expect(answer).toMatchObject({ status: 200, body: { user: { email, emailVerified: true } } });
      expect(await login(email, password)).toBe(401);
    },
  );
});

/** Adds an account with an unproved address, whose person has never signed in. */
async function unproved(email: string): Promise<void> {
  const { id } = await createUser(idctl.operator(), { email, name: 'Ada Byron' });
  await transaction(() => Account.update({ emailProof: 'none' }, { where: { id } }));
}
