import { describe, expect, test } from 'vitest';
import {
  confirmTotp,
  resetTotp,
  startTotp,
} from '../../src/services/people/two-factor/operations.ts';
import { password, person, signedIn } from '../support/builders.ts';
import { openInstance } from '../support/instance.ts';
import {
  addPasskey,
  answerTo,
  passkeySite as baseUrl,
  personWithPasskey,
} from '../support/passkeys.ts';
import { codeOf, enrol, enrolled } from '../support/two-factor.ts';

// These tests check what the thief of a session can do with the second factor.

const needed = { status: 403, body: { code: 'recent_sign_in_required' } };
const admin = { name: 'all', scope: 'admin' };

describe('old and recent sessions', () => {
  test('P15 P16 an old session does not become recent by enrolling an authenticator', async () => {
    const idctl = await openInstance({ baseUrl });
    const { id, email } = await person(idctl);
    const thief = await signedIn(idctl, email);
    idctl.wait(11 * 60);
    expect(await thief.post('/api/v1/me/totp')).toMatchObject(needed);
    expect((await addPasskey(thief)).answer).toMatchObject(needed);
    // Enrolled by the operator, it does not make an older session recent either.
    const operator = idctl.operator();
    const { secret } = await startTotp(operator, startTotp.forOperator.input.parse({ user: id }));
    const code = () => codeOf(idctl, secret);
    await confirmTotp(operator, { user: id, code: code() });
    idctl.wait(60);
    const confirmed = await thief.post('/api/v1/auth/confirm', { totpCode: code() });
    expect(confirmed).toMatchObject({
      status: 403,
      body: { ...needed.body, methods: ['recovery'] },
    });
    expect((await thief.post('/api/v1/me/tokens', admin)).status).toBe(403);
  });

  test('P16 a session that began or was confirmed in the last ten minutes can enrol an authenticator, and then add a passkey', async () => {
    const idctl = await openInstance({ baseUrl });
    const { email } = await person(idctl);
    const fresh = await signedIn(idctl, email);
    expect((await (await enrol(idctl, fresh))()).status).toBe(204);
    expect((await addPasskey(fresh)).answer.status).toBe(201);
    const second = await person(idctl);
    const old = await signedIn(idctl, second.email);
    idctl.wait(11 * 60);
    expect((await old.post('/api/v1/auth/confirm', { password })).status).toBe(204);
    expect((await (await enrol(idctl, old))()).status).toBe(204);
  });

  test('P15 P16 a code of a replaced authenticator does not make a session recent', async () => {
    const idctl = await openInstance({ baseUrl });
    const { account, code } = await enrolled(idctl);
    const client = idctl.client({ keepCookies: true });
    const login = { email: account.email, password, totpCode: code() };
    expect((await client.post('/api/v1/auth/login', login)).status).toBe(200);
    idctl.wait(60);
    const other = await signedIn(idctl, account.email, { totpCode: code() });
    idctl.wait(60);
    expect((await other.post('/api/v1/me/totp/disable', { code: code() })).status).toBe(204);
    const confirm = await enrol(idctl, client, other);
    expect((await addPasskey(client)).answer).toMatchObject(needed);
    expect((await confirm()).status).toBe(204);
    expect((await addPasskey(client)).answer.status).toBe(201);
  });

  test('P12 P16 neither a session that did not use the passkey nor a token can enrol an authenticator beside it', async () => {
    const idctl = await openInstance({ baseUrl, tokens: { manageCredentials: 'on' } });
    const { browser, held } = await personWithPasskey(idctl);
    idctl.wait(11 * 60);
    expect(await browser.post('/api/v1/me/totp')).toMatchObject(needed);
    const refused = await browser.post('/api/v1/me/totp');
    const { token } = (await browser.post('/api/v1/me/tokens', { name: 'ci' })).body;
    const byToken = idctl.client({ headers: { authorization: `Bearer ${token}` } });
    expect(await byToken.post('/api/v1/me/totp')).toMatchObject(needed);
    const answer = { passkey: answerTo(refused, held) };
    expect((await browser.post('/api/v1/auth/confirm', answer)).status).toBe(204);
    expect((await browser.post('/api/v1/me/totp')).status).toBe(201);
  });

  test('P16 an old session cannot link an account of Google or GitHub', async () => {
    const idctl = await openInstance({ baseUrl });
    const client = await signedIn(idctl, (await person(idctl)).email);
    const link = () => client.post('/api/v1/me/social/google', {});
    expect(await link()).toMatchObject({ body: { code: 'social_not_configured' } });
    idctl.wait(11 * 60);
    expect(await link()).toMatchObject(needed);
  });
});
test('P15 once an authenticator is removed, a session that used its code must prove the remaining passkey', async () => {
  const idctl = await openInstance({ baseUrl });
  for (const by of ['person', 'operator']) {
    const { account, client, code } = await enrolled(idctl);
    const passed = idctl.client({ keepCookies: true });
    const given = { email: account.email, password, totpCode: code() };
    expect((await passed.post('/api/v1/auth/login', given)).status).toBe(200);
    expect((await addPasskey(passed)).answer.status).toBe(201);
    idctl.wait(60);
    if (by === 'operator') await resetTotp(idctl.operator(), { user: account.id, passkeys: false });
    else expect((await client.post('/api/v1/me/totp/disable', { code: code() })).status).toBe(204);
    expect((await passed.post('/api/v1/me/tokens', admin)).status).toBe(403);
    expect((await addPasskey(passed)).answer).toMatchObject(needed);
  }
});
