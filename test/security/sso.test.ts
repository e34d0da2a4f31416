import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { disableSso, saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { comeBack, connected, registration, start } from '../support/sso.ts';
import { returning as comingBack, failed } from './returning.ts';

let provider: LyingProvider;
let honest: LyingProvider['answers'];
let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({
    outbound: { allow: ['127.0.0.1'] },
    http: { returnToOrigins: ['https://app.test'] },
  });
  provider = await startLyingProvider(registration.clientId, '');
  honest = { ...provider.answers };
});
beforeEach(() => {
  Object.assign(provider.answers, honest);
});
afterAll(async () => {
  await provider.stop();
  await idctl.close();
});

const returning = (options?: Parameters<typeof comingBack>[2]) =>
  comingBack(idctl, provider, options);

const navigation = { 'sec-fetch-mode': 'navigate' };

describe('S2 the state', () => {
  test('S2 signs in once: a replay is refused, and only one of twenty at once gets in', async () => {
    const { browser, callback } = await returning();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => comeBack(browser, callback)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19);
    expect(await comeBack(browser, callback)).toMatchObject(failed);
  });

  test('S2 is used up even by a sign-in that fails', async () => {
    const { browser, callback, answerToken, idToken } = await returning();
    answerToken(await idToken({ aud: 'someone else' }));
    expect(await comeBack(browser, callback)).toMatchObject(failed);
    answerToken(await idToken());
    expect(await comeBack(browser, callback)).toMatchObject(failed);
  });

  test('§7 S2 expires after ten minutes, and is valid until then', async () => {
    idctl.stopClock();
    const [early, late] = [await returning(), await returning()];
    idctl.wait(599);
    // The provider gives a right answer each time, so that only the age of the state differs.
    const arrive = async ({ answerToken, idToken, userinfo, browser, callback }: typeof early) => {
      provider.answers.userinfo = () => ({ body: userinfo });
      answerToken(await idToken({ iat: Math.floor(Date.now() / 1000) }));
      return comeBack(browser, callback);
    };
    expect((await arrive(early)).status).toBe(200);
    idctl.wait(2);
    expect(await arrive(late)).toMatchObject(failed);
  });

  test('S2 is refused if altered in any part, signed by another key, missing or malformed', async () => {
    const { browser, state } = await returning();
    const [body = '', mac = ''] = state.split('.');
    const altered = {
      ...JSON.parse(Buffer.from(body, 'base64url').toString()),
      returnTo: '/elsewhere',
    };
    const forged = Buffer.from(JSON.stringify(altered)).toString('base64url');
    for (const text of [
      `${forged}.${mac}`,
      `${body}.${'A'.repeat(43)}`,
      body,
      `${state}x`,
      '',
      'null',
      '.',
    ]) {
      const answer = await browser.get(
        `/auth/sso/callback?code=c&state=${encodeURIComponent(text)}`,
      );
      expect(answer, text).toMatchObject(failed);
    }
    expect(await browser.get('/auth/sso/callback?code=c')).toMatchObject(failed);
  });
});

describe('S3 the browser', () => {
  test('S3 a browser without the flow cookie of the start is refused, and the state stays unused', async () => {
    const { browser, callback } = await returning();
    expect(await comeBack(idctl.client(), callback, navigation)).toMatchObject(failed);
    const other = { ...navigation, cookie: `sso_flow=${'A'.repeat(43)}` };
    expect(await comeBack(idctl.client(), callback, other)).toMatchObject(failed);
    expect((await comeBack(browser, callback, navigation)).status).toBe(200);
  });

  test('S3 a client that is no browser does not need a cookie, as the specification says', async () => {
    const { callback } = await returning();
    expect((await comeBack(idctl.client(), callback)).status).toBe(200);
  });

  test('S3 two tabs of one browser do not disturb each other', async () => {
    const { browser, callback, domain } = await returning();
    await start(browser, domain);
    expect((await comeBack(browser, callback, navigation)).status).toBe(200);
  });
});

describe('S4 answers of the provider', () => {
  test.each([
    ['another aud', { aud: 'someone else' }],
    ['another iss', { iss: 'https://evil.test' }],
    ['another nonce', { nonce: 'other' }],
    ['no nonce', { nonce: undefined }],
    ['an expiry in the past', { exp: 1 }],
    ['another sub than userinfo', { sub: 'someone-else' }],
  ])('S4 an ID token with %s is refused and does not make an account', async (_, twist) => {
    const { browser, callback, answerToken, idToken } = await returning();
    const accounts = await Account.count();
    answerToken(await idToken(twist));
    expect(await comeBack(browser, callback)).toMatchObject(failed);
    expect(await Account.count()).toBe(accounts);
  });

  test('S4 an unsigned ID token is refused, and so is one with another signature', async () => {
    for (const break_ of [
      (token: string) =>
        `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token.split('.')[1]}.`,
      (token: string) => `${token.slice(0, -6)}AAAAAA`,
    ]) {
      const { browser, callback, answerToken, idToken } = await returning();
      answerToken(break_(await idToken()));
      expect(await comeBack(browser, callback)).toMatchObject(failed);
    }
  });

  test('S4 if a provider does not send an ID token, the sub of userinfo identifies the person', async () => {
    const { browser, callback, answerToken, userinfo } = await returning();
    answerToken();
    expect((await comeBack(browser, callback)).body.user.email).toBe(userinfo.email);
  });

  test('I1 a provider that sends neither an ID token nor a sub is refused', async () => {
    const { browser, callback, answerToken } = await returning({ claims: { sub: undefined } });
    answerToken();
    expect(await comeBack(browser, callback)).toMatchObject(failed);
  });

  test('S8 an answer does not repeat the provider’s text', async () => {
    const { browser, callback } = await returning();
    const said = '&error=access_denied&error_description=%3Cscript%3Ehello%3C%2Fscript%3E';
    const answer = await browser.get(
      `${new URL(callback).pathname}${new URL(callback).search}${said}`,
    );
    expect(answer).toMatchObject(failed);
    expect(JSON.stringify(answer.body)).not.toContain('hello');
    provider.answers.token = () => ({
      status: 400,
      body: { error: 'invalid_grant', error_description: 'hello' },
    });
    const other = await returning();
    provider.answers.token = () => ({
      status: 400,
      body: { error: 'invalid_grant', error_description: 'hello' },
    });
    const refused = await comeBack(other.browser, other.callback);
    expect(refused).toMatchObject(failed);
    expect(JSON.stringify(refused.body)).not.toContain('hello');
  });

  test('a provider that fails gives 502 and no session', async () => {
    const { browser, callback } = await returning();
    provider.answers.token = () => ({ status: 500, body: 'oops' });
    expect(await comeBack(browser, callback)).toMatchObject({ status: 502, cookies: [] });
  });
});

describe('S6 S7 between start and callback', () => {
  test('S6 if the connection is disabled, or gets another client, the sign-in fails', async () => {
    for (const change of ['disable', 'client'] as const) {
      const { org, domain } = await connected(idctl, provider.issuer);
      const { browser, callback } = await returning({ domain });
      const input = {
        org: org.slug,
        emailDomain: domain,
        issuer: provider.issuer,
        ...registration,
        enabled: true,
      };
      if (change === 'disable') await disableSso(idctl.operator(), { org: org.slug });
      else await saveSso(idctl.operator(), saveSsoInput.parse({ ...input, clientId: 'other' }));
      expect(await comeBack(browser, callback)).toMatchObject(failed);
    }
  });

  test.each([
    '//evil.test',
    '/.//evil.test',
    '/x/..//evil.test',
    '/./\\evil.test',
    '/\\evil.test',
    'https://evil.test/',
    'https://app.test.evil.test/',
    'javascript:alert(1)',
    'https://x@app.test/',
  ])('S7 returnTo %j is refused', async (returnTo) => {
    const { domain } = await connected(idctl, provider.issuer);
    const answer = await idctl
      .client()
      .get(`/auth/sso/start?domain=${domain}&returnTo=${encodeURIComponent(returnTo)}`);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'returnTo' }] } });
  });

  test('S7 returnTo may be a path, or an address on a configured origin', async () => {
    const { domain } = await connected(idctl, provider.issuer);
    for (const returnTo of ['/', '/a?b=c#d', 'https://app.test/x']) {
      const answer = await idctl
        .client()
        .get(`/auth/sso/start?domain=${domain}&returnTo=${encodeURIComponent(returnTo)}`);
      expect(answer.status).toBe(200);
    }
  });
});
