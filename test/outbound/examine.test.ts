import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Outbound } from '../../src/outbound/outbound.ts';
import { type Authority, createAuthority } from '../support/certificates.ts';
import { hintLike } from '../support/hints.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { openNetwork } from '../support/network.ts';
import { portOf } from '../support/ports.ts';
import { asked, client, outbound, provider, shortenTime, useLyingProvider } from './lying.ts';

useLyingProvider();

const names = [
  'name',
  'TLS',
  'discovery',
  'issuer',
  'endpoints',
  'keys',
  'client authentication',
  'redirect URI',
  'clock',
];

/** Examines the provider, and returns the steps that ran and those that failed. */
async function examine(network: Outbound = outbound, subject = client(), now = new Date()) {
  const steps = await network.examineProvider(subject, now);
  const failed = steps.filter(({ ok }) => !ok);
  return { ran: steps.map(({ name }) => name), failed, steps, step: stepOf(steps) };
}

function stepOf(steps: Awaited<ReturnType<Outbound['examineProvider']>>) {
  return (wanted: string) => steps.find(({ name }) => name === wanted);
}

/** Makes the provider check the secret before the code, as RFC 6749 §4.1.3 requires. */
function checkClient(at: LyingProvider, secret = client().clientSecret) {
  const right = `Basic ${Buffer.from(`idctl:${secret.replaceAll(' ', '%20')}`).toString('base64')}`;
  at.answers.token = ({ headers }) =>
    headers.authorization === right
      ? { status: 400, body: { error: 'invalid_grant' } }
      : { status: 401, body: { error: 'invalid_client', error_description: '<b>canary</b>' } };
}
beforeEach(() => checkClient(provider));

describe('a provider without faults', () => {
  test('every step runs in order and passes, with the expected and the seen value', async () => {
    const { ran, failed, steps, step } = await examine();
    expect(ran).toEqual(names);
    expect(failed).toEqual([]);
    for (const { expected, seen } of steps) expect([expected, seen].every(Boolean)).toBe(true);
    expect(step('client authentication')).toEqual({
      name: 'client authentication',
      ok: true,
      expected: expect.any(String),
      seen: 'accepted',
    });
    expect(step('keys')?.seen).toBe('1 key, for ES256');
    expect(step('redirect URI')?.hint).toBeUndefined();
  });

  test('the test sends a made-up code with the redirect URI and a verifier, and does not start a sign-in', async () => {
    await examine();
    const form = new URLSearchParams(asked('/token')[0]?.body);
    expect(Object.fromEntries(form)).toMatchObject({
      grant_type: 'authorization_code',
      redirect_uri: client().redirectUri,
      code_verifier: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(asked('/userinfo')).toEqual([]);
  });
});

describe('each fault is reported once, with one thing to change', () => {
  test('with a wrong secret, client authentication fails, and the redirect URI is not tested', async () => {
    const { ran, failed } = await examine(outbound, { ...client(), clientSecret: 'wrong' });
    expect(failed).toMatchObject([
      { name: 'client authentication', seen: 'not accepted (invalid_client)' },
    ]);
    expect(failed[0]?.hint).toContain('client secret');
    expect(ran).toEqual(names.filter((name) => name !== 'redirect URI'));
  });

  test('a provider that ignores the client secret proves nothing, and the step says so', async () => {
    provider.answers.token = () => ({ status: 400, body: { error: 'invalid_grant' } });
    const { step } = await examine(outbound, { ...client(), clientSecret: 'wrong' });
    expect(step('client authentication')).toMatchObject({
      ok: true,
      seen: 'the provider refuses the code before it checks the secret',
      hint: hintLike('sso attempts'),
    });
  });

  test.each([
    [400, { error: 'unauthorized_client' }, 'the client may not use authorization codes'],
    [401, { error: 'unauthorized_client' }, 'not accepted (unauthorized_client)'],
    [401, {}, 'not accepted (HTTP 401)'],
    [400, { error: 'invalid_request' }, 'an unexpected answer: invalid_request'],
    [400, { error: '<b>canary</b>' }, 'an unexpected answer: HTTP 400'],
    [200, { access_token: 'x', token_type: 'bearer' }, 'a made-up code was accepted'],
    [503, {}, 'an unexpected answer: HTTP 503'],
  ])('a token endpoint that answers %i %j is reported as: %s', async (status, body, seen) => {
    provider.answers.token = () => ({ status, body });
    expect((await examine()).failed).toMatchObject([{ name: 'client authentication', seen }]);
  });

  test.each([
    [['client_secret_basic', 'client_secret_post'], 'client_secret_basic', 'client_secret_post'],
    [['client_secret_post'], 'client_secret_post', 'client_secret_basic'],
  ])(
    'with the methods %j, a secret refused by %s but accepted by %s fails, and the hint names the accepted method',
    async (methods, used, other) => {
      provider.answers.discovery = () => ({
        body: { ...provider.document(), token_endpoint_auth_methods_supported: methods },
      });
      provider.answers.token = ({ headers, body }) => {
        const inBody = new URLSearchParams(body).get('client_secret') === client().clientSecret;
        const right = other === 'client_secret_post' ? inBody : headers.authorization !== undefined;
        return {
          status: right ? 400 : 401,
          body: { error: right ? 'invalid_grant' : 'unauthorized_client' },
        };
      };
      const { failed } = await examine();
      expect(failed).toMatchObject([
        { name: 'client authentication', seen: `not accepted with ${used}, but with ${other}` },
      ]);
      expect(failed[0]?.hint).toContain(other);
    },
  );

  test('if the token endpoint does not accept a client secret, the step client authentication fails and the endpoint does not get a request', async () => {
    provider.answers.discovery = () => ({
      body: { ...provider.document(), token_endpoint_auth_methods_supported: ['private_key_jwt'] },
    });
    const { failed } = await examine();
    expect(failed).toMatchObject([{ name: 'client authentication' }]);
    expect(asked('/token')).toEqual([]);
  });

  test.each([
    ['https://evil.test', 'another issuer: one on another host'],
    [undefined, 'no issuer'],
    [7, 'no issuer'],
    ['<b>canary</b>', 'another issuer: one that is not a URL'],
  ])(
    'S5 a discovery document with the issuer %j stops all later steps but the clock',
    async (issuer, seen) => {
      provider.answers.discovery = () => ({ body: { ...provider.document(), issuer } });
      const { ran, failed } = await examine();
      expect(failed).toMatchObject([{ name: 'issuer', seen }]);
      expect(ran).toEqual(['name', 'TLS', 'discovery', 'issuer', 'clock']);
      expect(asked('/token')).toEqual([]);
    },
  );

  test('S8 only the operator sees the other issuer, and only if it is a plain URL', async () => {
    const seenBy = async (issuer: string, showIssuer: boolean) => {
      provider.answers.discovery = () => ({ body: { ...provider.document(), issuer } });
      const steps = await outbound.examineProvider(client(), new Date(), showIssuer);
      return steps.find(({ ok }) => !ok)?.seen;
    };
    const other = `${provider.issuer}/realms/acme`;
    expect(await seenBy(other, true)).toBe(`another issuer: ${other}`);
    expect(await seenBy(other, false)).toBe('another issuer: one with another path or spelling');
    expect(await seenBy('https://evil.test/\u202e', true)).toBe(
      'another issuer: one on another host',
    );
  });

  test('S5 if only the slash at the end differs, the message gives the issuer to set', async () => {
    const { failed } = await examine(outbound, client(`${provider.issuer}/`));
    expect(failed).toMatchObject([
      { name: 'issuer', hint: `Set the issuer to ${provider.issuer}` },
    ]);
    provider.answers.discovery = () => ({
      body: { ...provider.document(), issuer: `${provider.issuer}/` },
    });
    expect((await examine()).failed).toMatchObject([
      { hint: `Set the issuer to ${provider.issuer}/` },
    ]);
  });

  test.each(['authorization', 'token', 'userinfo'])(
    'S4 a discovery document without the %s endpoint fails, and stops the later steps',
    async (endpoint) => {
      provider.answers.discovery = () => ({
        body: { ...provider.document(), [`${endpoint}_endpoint`]: undefined },
      });
      const { failed, ran } = await examine();
      expect(failed).toMatchObject([
        { name: 'endpoints', seen: `missing or malformed: ${endpoint}_endpoint` },
      ]);
      expect(ran).not.toContain('keys');
      expect(ran).not.toContain('client authentication');
    },
  );

  test.each(['token_endpoint', 'userinfo_endpoint'])(
    'S9 a %s inside the private network fails, and the token endpoint does not get a request',
    async (endpoint) => {
      provider.answers.discovery = () => ({
        body: { ...provider.document(), [endpoint]: 'https://169.254.169.254/latest' },
      });
      expect((await examine()).failed).toMatchObject([
        { name: 'endpoints', hint: hintLike('outbound.allow') },
      ]);
      expect(asked('/token')).toEqual([]);
    },
  );

  test.each([
    [
      'of another algorithm',
      { keys: [{ kty: 'oct', k: 'AAAA', alg: 'HS256' }] },
      '1 key, none for these algorithms',
    ],
    ['in an empty key set', { keys: [] }, '0 keys, none for these algorithms'],
    ['that are not a key set', { canary: true }, 'a response that is not a key set'],
    ['that are not JSON', '<html>canary', 'a response that is not a key set'],
  ])('S4 keys %s fail, and client authentication is still tested', async (_, body, seen) => {
    provider.answers.jwks = () => ({ body });
    const { failed, ran } = await examine();
    expect(failed).toMatchObject([{ name: 'keys', seen }]);
    expect(ran).toContain('client authentication');
  });

  test('S4 a key for another use, and one that is too short, cannot be used', async () => {
    const honest = provider.answers.jwks;
    provider.answers.jwks = async (request) => {
      const { body } = await honest(request);
      const [key] = Object(body).keys;
      const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({
        format: 'jwk',
      });
      return {
        body: {
          keys: [{ ...key, use: 'enc' }, { ...key, alg: 'ES512' }, short],
        },
      };
    };
    expect((await examine()).failed).toMatchObject([{ seen: '3 keys, none for these algorithms' }]);
  });

  test('without a key document, the keys step passes with a note, because userinfo can still be trusted', async () => {
    provider.answers.discovery = () => ({ body: { ...provider.document(), jwks_uri: undefined } });
    const { failed, step } = await examine();
    expect(failed).toEqual([]);
    expect(step('keys')?.hint).toContain('ID token');
  });

  test.each([400, 403])(
    'HTTP %i from the authorization endpoint means that the redirect URI is not registered',
    async (status) => {
      provider.answers.authorization = () => ({ status, body: '<b>canary</b>' });
      expect((await examine()).failed).toMatchObject([
        {
          name: 'redirect URI',
          hint: `Register exactly ${client().redirectUri} for this client at the provider.`,
        },
      ]);
    },
  );

  test.each([
    { status: 200, body: '<form>' },
    { status: 302, headers: { location: '/login' }, body: '' },
    {
      status: 302,
      headers: { location: 'https://elsewhere.test/auth/sso/callback?error=x' },
      body: '',
    },
    { status: 500, body: '' },
  ])(
    'an answer that only a browser can judge passes, and the hint names the URI to register: %j',
    async (answer) => {
      provider.answers.authorization = () => answer;
      expect((await examine()).step('redirect URI')).toMatchObject({
        ok: true,
        seen: 'cannot be tested without a browser',
        hint: expect.stringContaining(client().redirectUri),
      });
    },
  );

  test('a client that lacks a scope fails, and the step shows invalid_scope', async () => {
    provider.answers.authorization = () => ({
      status: 302,
      headers: { location: `${client().redirectUri}?error=invalid_scope` },
      body: '',
    });
    expect((await examine()).failed).toMatchObject([
      { seen: 'the provider sends people back with invalid_scope' },
    ]);
  });

  test.each([
    [61, '61 seconds behind ours', false],
    [-61, '61 seconds ahead of ours', false],
    [50, '50 seconds behind ours', true],
  ])('a clock that is %i seconds off is reported as %s', async (seconds, seen, ok) => {
    // A Date header has whole seconds, and the request takes some milliseconds.
    const now = new Date(Math.ceil(Date.now() / 1000) * 1000 + seconds * 1000 + 100);
    provider.answers.discovery = () => ({
      headers: { date: new Date(now.getTime() - seconds * 1000).toUTCString() },
      body: provider.document(),
    });
    const { step } = await examine(outbound, client(), now);
    expect(step('clock')).toMatchObject({ ok, seen });
  });

  test('the clock step takes the age of a cached document into account', async () => {
    provider.answers.discovery = () => ({
      headers: { date: new Date(Date.now() - 500_000).toUTCString(), age: '500' },
      body: provider.document(),
    });
    expect((await examine()).step('clock')?.ok).toBe(true);
  });
});

describe('an endpoint that cannot be reached', () => {
  test.each([
    ['HTTP 404', { status: 404, body: {} }, 'HTTP 404'],
    [
      'a redirect',
      { status: 302, headers: { location: '/' }, body: '' },
      'the provider answered with a redirect, which is not followed',
    ],
    ['no JSON', { body: '<html>canary' }, 'something that is not a JSON object'],
    ['a list', { body: '[]' }, 'something that is not a JSON object'],
    [
      'too much data',
      { body: 'x'.repeat(2 * 1024 * 1024) },
      'the provider answered with more than the allowed 1 MiB',
    ],
  ])('discovery that answers with %s stops the later steps', async (_, answer, seen) => {
    provider.answers.discovery = () => answer;
    const { ran, failed } = await examine();
    expect(failed).toMatchObject([{ name: 'discovery', seen }]);
    expect(ran).toEqual(['name', 'TLS', 'discovery']);
  });

  test('S9 for loopback without outbound.allow, the name step names the setting, and no request is sent', async () => {
    const strict = openNetwork({});
    const { ran, failed } = await examine(strict);
    await strict.close();
    expect(ran).toEqual(['name']);
    expect(failed[0]?.hint).toEqual(hintLike('outbound.allow'));
    expect(provider.seen).toEqual([]);
  });

  test('S9 plain http to a host that is not allowed fails the TLS step', async () => {
    const strict = openNetwork({ outbound: { allow: ['10.0.0.0/8'] } });
    const { failed, ran } = await examine(strict, client('http://192.0.32.8'));
    await strict.close();
    expect(ran).toEqual(['name', 'TLS']);
    expect(failed[0]).toMatchObject({ name: 'TLS', hint: hintLike('Use https') });
  });

  test('a name that does not resolve fails the name step', async () => {
    const { failed, ran } = await examine(outbound, client('https://no-such-host.invalid'));
    expect(ran).toEqual(['name']);
    expect(failed[0]?.seen).toBe('no-such-host.invalid cannot be resolved');
  });

  test('a provider that is down fails the discovery step', async () => {
    await provider.stop();
    expect((await examine()).failed).toMatchObject([
      { name: 'discovery', seen: 'the provider refused the connection' },
    ]);
  });

  test('S9 a provider that sends too slowly fails the discovery step, and the later steps do not run', async () => {
    provider.answers.discovery = () => ({ body: dripping() });
    await shortenTime();
    const { failed, ran } = await examine();
    expect(failed).toMatchObject([{ name: 'discovery' }]);
    expect(ran).toEqual(['name', 'TLS', 'discovery']);
  });

  test('a key document that arrives too slowly does not stop the other steps', async () => {
    provider.answers.jwks = () => ({ body: dripping() });
    await shortenTime();
    const { failed, step } = await examine();
    expect(failed).toMatchObject([{ name: 'keys' }]);
    expect(step('redirect URI')?.ok).toBe(true);
  });
});

describe('TLS', () => {
  let folder: string;
  let authority: Authority;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'idctl-examine-'));
    authority = await createAuthority(folder);
  });
  afterAll(() => rm(folder, { recursive: true }));

  type Leaf = { certFile: string; keyFile: string };

  /** Examines a provider with this certificate. The network trusts the authority in `caFile`. */
  async function examineTls({ certFile, keyFile }: Leaf, caFile?: string) {
    const tls = { cert: await readFile(certFile), key: await readFile(keyFile) };
    const secure = await startLyingProvider('idctl', '', tls);
    checkClient(secure);
    const network = openNetwork({
      outbound: { allow: ['127.0.0.1'], ...(caFile ? { caFile } : {}) },
    });
    try {
      return await examine(network, client(secure.issuer));
    } finally {
      await network.close();
      await secure.stop();
    }
  }

  test('a trusted certificate passes with its expiry date, and with a note if it expires soon', async () => {
    const { failed, step } = await examineTls(
      await authority.issue('IP:127.0.0.1'),
      authority.caFile,
    );
    expect(failed).toEqual([]);
    expect(step('TLS')?.seen).toMatch(
      /^a trusted certificate for 127\.0\.0\.1, valid until \d{4}-\d\d-\d\d$/,
    );
    expect(step('TLS')?.hint).toBe('Renew the certificate before then.');
  });

  test.each([
    [
      'a certificate of an unknown authority',
      'issue',
      'IP:127.0.0.1',
      false,
      'that is not trusted',
      'outbound.caFile',
    ],
    [
      'a certificate for another name',
      'issue',
      'DNS:other.test',
      true,
      'for another name',
      'Use a name in the certificate',
    ],
    [
      'an expired certificate',
      'issueExpired',
      'IP:127.0.0.1',
      true,
      'that is not valid now',
      'Renew',
    ],
  ] as const)(
    '%s fails the TLS step, and no later step runs',
    async (_, make, name, trusted, seen, hint) => {
      const leaf = await authority[make](name);
      const { ran, failed } = await examineTls(leaf, trusted ? authority.caFile : undefined);
      expect(ran).toEqual(['name', 'TLS']);
      expect(failed[0]).toMatchObject({
        seen: `127.0.0.1 has a TLS certificate ${seen}`,
        hint: expect.stringContaining(hint),
      });
    },
  );

  test('the test reads the current certificate, not that of an earlier connection', async () => {
    const read = async ({ certFile, keyFile }: Leaf) => ({
      cert: await readFile(certFile),
      key: await readFile(keyFile),
    });
    const server = createTlsServer(
      await read(await authority.issue('IP:127.0.0.1')),
      (_, response) => {
        response.end('{}');
      },
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const network = openNetwork({ outbound: { allow: ['127.0.0.1'], caFile: authority.caFile } });
    const examined = () => examine(network, client(`https://127.0.0.1:${portOf(server)}`));
    expect((await examined()).step('TLS')?.ok).toBe(true);
    server.setSecureContext(await read(await authority.issueExpired('IP:127.0.0.1')));
    expect((await examined()).step('TLS')?.ok).toBe(false);
    await network.close();
    server.closeAllConnections();
    server.close();
  });

  test('a port without TLS fails the TLS step', async () => {
    const { failed } = await examine(outbound, client(provider.issuer.replace('http:', 'https:')));
    expect(failed).toMatchObject([{ name: 'TLS', seen: '127.0.0.1 does not speak TLS correctly' }]);
  });

  test('S9 an https issuer with an authorization endpoint in plain http fails the endpoints step', async () => {
    const leaf = await authority.issue('IP:127.0.0.1');
    const tls = { cert: await readFile(leaf.certFile), key: await readFile(leaf.keyFile) };
    const secure = await startLyingProvider('idctl', '', tls);
    secure.answers.discovery = () => ({
      body: { ...secure.document(), authorization_endpoint: 'http://127.0.0.1/authorize' },
    });
    const network = openNetwork({ outbound: { allow: ['127.0.0.1'], caFile: authority.caFile } });
    const { failed } = await examine(network, client(secure.issuer));
    await network.close();
    await secure.stop();
    expect(failed).toMatchObject([
      { name: 'endpoints', seen: expect.stringContaining('without https') },
    ]);
  });
});

test('S8 no step contains text that the provider wrote', async () => {
  const canary = '<b>canary</b>';
  provider.answers.token = () => ({
    status: 400,
    body: { error: canary, error_description: canary },
  });
  provider.answers.jwks = () => ({ body: { keys: [{ kty: canary, alg: canary, kid: canary }] } });
  provider.answers.discovery = () => ({
    headers: { 'x-said': canary },
    body: { ...provider.document(), canary },
  });
  const { steps, failed } = await examine();
  expect(failed).toHaveLength(2);
  expect(JSON.stringify(steps)).not.toContain('canary');
});

async function* dripping() {
  for (;;) {
    yield ' ';
    await new Promise((after) => setTimeout(after, 20));
  }
}
