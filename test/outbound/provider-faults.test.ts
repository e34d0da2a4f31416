import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openNetwork } from '../support/network.ts';
import {
  answerIdToken,
  asked,
  bound,
  client,
  outbound,
  provider,
  redeem,
  said,
  start,
  useLyingProvider,
} from './lying.ts';

useLyingProvider();

describe('§4.1 client authentication', () => {
  const basic = `Basic ${Buffer.from('idctl:a:b/c%20d').toString('base64')}`;

  test.each([
    [undefined, basic],
    [['client_secret_post', 'client_secret_basic'], basic],
    [['client_secret_post', 'private_key_jwt'], undefined],
  ])(
    '§4.1 the client authenticates with a method that discovery offers (%j)',
    async (methods, authorization) => {
      provider.answers.discovery = () => ({
        body: { ...provider.document(), token_endpoint_auth_methods_supported: methods },
      });
      await redeem();
      const [request] = asked('/token');
      const form = Object.fromEntries(new URLSearchParams(request?.body));
      expect(request?.headers.authorization).toBe(authorization);
      expect(form).toMatchObject({
        grant_type: 'authorization_code',
        code: 'code-1',
        redirect_uri: client().redirectUri,
        code_verifier: bound.codeVerifier,
      });
      expect(form['client_secret']).toBe(
        authorization === undefined ? client().clientSecret : undefined,
      );
    },
  );
});

describe('RFC 6749 §2.3.1 the secret by HTTP Basic', () => {
  const sent = async (clientId: string, clientSecret: string) => {
    await outbound.redeem({ ...client(), clientId, clientSecret }, said).catch(() => {});
    const { authorization } = asked('/token').at(-1)?.headers ?? {};
    return Buffer.from(authorization?.replace('Basic ', '') ?? '', 'base64').toString();
  };

  test('an ordinary secret is sent unchanged, for providers that do not decode it, such as Glewlwyd', async () => {
    for (const secret of ['s3cr3t-with_dots.and~more', 'bm90IHVybHNhZmU/Yg==', "(a)!*'$&:;,@[]"]) {
      expect(await sent('client-1', secret)).toBe(`client-1:${secret}`);
    }
  });

  test('characters that decoding would change are escaped', async () => {
    const decoded = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));
    for (const secret of ['100%', 'a+b', 'a b', 'ä€😀', 'tab\tnew\nline']) {
      const [id = '', ...rest] = (await sent('a:b', secret)).split(':');
      expect([decoded(id), decoded(rest.join(':'))]).toEqual(['a:b', secret]);
    }
  });
});

describe('S5 the issuer', () => {
  test('S5 a discovery document of another issuer is refused', async () => {
    provider.answers.discovery = () => ({
      body: { ...provider.document(), issuer: 'https://other.test' },
    });
    await expect(start()).rejects.toMatchObject({
      code: 'provider_failed',
      extra: { stage: 'discovery', reason: 'issuer_mismatch' },
    });
  });

  test('S5 if only the slash at the end differs, the hint gives the issuer to set', async () => {
    await expect(
      outbound.authorizationUrl(client(`${provider.issuer}/`), bound),
    ).rejects.toMatchObject({
      extra: { reason: 'issuer_mismatch' },
      hint: expect.stringContaining(`Set the issuer to ${provider.issuer}:`),
    });
  });

  test('S5 iss in the response is checked if it is present', async () => {
    await expect(redeem({ ...said.query, iss: 'https://evil.test' })).rejects.toMatchObject({
      code: 'provider_refused',
      extra: { stage: 'authorization', reason: 'iss_invalid' },
    });
    expect(asked('/token')).toEqual([]);
    await expect(redeem({ ...said.query, iss: provider.issuer })).resolves.toMatchObject({
      subject: 'person-1',
    });
  });

  test('S2 a response with another state is refused', async () => {
    await expect(redeem({ code: 'code-1', state: 'other' })).rejects.toMatchObject({
      extra: { stage: 'authorization', reason: 'state_invalid' },
    });
  });
});

describe('S8 text from the provider is not shown', () => {
  test.each([
    ['access_denied', 'access_denied'],
    ['<script>', 'error_response'],
  ])('S8 the error %s gets one of idctl’s own codes', async (error, reason) => {
    const refusal = redeem({ error, error_description: '<b>canary</b>', state: 'state-1' });
    await expect(refusal).rejects.toMatchObject({
      code: 'provider_refused',
      extra: { stage: 'authorization', reason },
      message: expect.not.stringMatching(/canary|script/),
    });
  });

  test('S8 text from the token endpoint is not shown either', async () => {
    provider.answers.token = () => ({
      status: 400,
      body: { error: 'canary', error_description: '<b>canary</b>' },
    });
    const refusal = await redeem().catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: 'provider_refused',
      extra: { stage: 'token', reason: 'error_response' },
    });
    expect(JSON.stringify([String(refusal), refusal])).not.toContain('<b>');
  });
});

describe('the discovery cache', () => {
  test('serves sign-ins that start together with one request, and is renewed after a failure', async () => {
    await Promise.all([start(), start(), start()]);
    await start();
    const discoveries = () => asked('/.well-known/openid-configuration').length;
    expect(discoveries()).toBe(1);
    answerIdToken('a.b.c');
    await expect(redeem()).rejects.toMatchObject({ code: 'provider_refused' });
    await start();
    expect(discoveries()).toBe(2);
  });

  test('S9 limits requests to a failing provider to one in five seconds, however many sign-ins start', async () => {
    const { discovery } = provider.answers;
    const discoveries = () => asked('/.well-known/openid-configuration').length;
    provider.answers.discovery = () => ({ status: 500, body: {} });
    await expect(start()).rejects.toMatchObject({ code: 'provider_failed' });
    provider.answers.discovery = discovery;
    for (let at = 0; at < 5; at += 1) {
      await expect(start()).rejects.toMatchObject({ code: 'provider_failed' });
    }
    expect(discoveries()).toBe(1);
    const later = performance.now() + 5_001;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => later);
    onTestFinished(() => clock.mockRestore());
    await expect(start()).resolves.toContain(`${provider.issuer}/authorize?`);
    expect(discoveries()).toBe(2);
  });
});

test('no request starts inside a database transaction', async () => {
  const open = openNetwork({ outbound: { allow: ['127.0.0.1'] } }, {}, (what) => {
    throw new Error(`a transaction is open before ${what}`);
  });
  await expect(open.lookupTxt('acme.test')).rejects.toThrow('before a DNS lookup');
  await expect(open.authorizationUrl(client(), bound)).rejects.toThrow('a transaction is open');
  await expect(open.redeem(client(), said)).rejects.toThrow('a transaction is open');
  await open.close();
  expect(provider.seen).toEqual([]);
});

test('a wrong entry in outbound.allow is refused, and the message names it', () => {
  expect(() => openNetwork({ outbound: { allow: ['https://idp.internal'] } })).toThrow(
    'outbound.allow: https://idp.internal is not a host name, address or range',
  );
});
