import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  AuthorizationResponse,
  Outbound,
  ProviderClient,
} from '../../src/outbound/outbound.ts';
import { openNetwork } from '../support/network.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';

const redirectUri = 'http://127.0.0.1:8420/auth/sso/callback';
const secret = 'a secret: with +/%&~ in it';
const bound = { state: 'state-1', nonce: 'nonce-1', codeVerifier: 'v'.repeat(43) };

describe('§4.1 sign-in at oidc-provider', () => {
  let provider: OpenIdProvider;
  let outbound: Outbound;
  beforeAll(async () => {
    const registered = { client_secret: secret, redirect_uris: [redirectUri] };
    provider = await startOpenIdProvider({
      clients: [
        { ...registered, client_id: 'basic' },
        { ...registered, client_id: 'signed', userinfo_signed_response_alg: 'ES256' },
        { ...registered, client_id: 'ps256', id_token_signed_response_alg: 'PS256' },
        { ...registered, client_id: 'es256', id_token_signed_response_alg: 'ES256' },
        { ...registered, client_id: 'eddsa', id_token_signed_response_alg: 'EdDSA' },
      ],
      people: {
        ada: { email: 'ada@acme.test', email_verified: true, name: 'Ada', groups: ['eng'] },
      },
      configuration: {
        features: { devInteractions: { enabled: false }, jwtUserinfo: { enabled: true } },
        enabledJWA: {
          idTokenSigningAlgValues: ['RS256', 'PS256', 'ES256', 'EdDSA'],
          userinfoSigningAlgValues: ['ES256'],
        },
      },
    });
    outbound = openNetwork({ outbound: { allow: ['127.0.0.1'] } });
  });
  afterAll(async () => {
    await outbound.close();
    await provider.stop();
  });

  const clientOf = (clientId: string) => ({
    issuer: provider.issuer,
    clientId,
    redirectUri,
    clientSecret: secret,
  });

  async function signIn(client: ProviderClient): Promise<AuthorizationResponse> {
    const callback = new URL(
      await provider.signIn(await outbound.authorizationUrl(client, bound), 'ada'),
    );
    return { ...bound, query: Object.fromEntries(callback.searchParams) };
  }

  test('S1 the authorization request has exactly the scope, PKCE S256, state and nonce', async () => {
    const url = new URL(await outbound.authorizationUrl(clientOf('basic'), bound));
    expect(url.href.startsWith(`${provider.issuer}/auth?`)).toBe(true);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: 'basic',
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'openid email profile',
      state: bound.state,
      nonce: bound.nonce,
      code_challenge: '7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM',
      code_challenge_method: 'S256',
    });
  });

  test.each(['basic', 'ps256', 'es256', 'eddsa', 'signed'])(
    'S4 ID token and userinfo prove the person (client %s)',
    async (clientId) => {
      const client = clientOf(clientId);
      const proof = await outbound.redeem(client, await signIn(client));
      expect(proof).toMatchObject({
        issuer: provider.issuer,
        subject: 'ada',
        userinfo: {
          sub: 'ada',
          email: 'ada@acme.test',
          email_verified: true,
          name: 'Ada',
          groups: ['eng'],
        },
        idToken: { sub: 'ada', iss: provider.issuer, aud: clientId, nonce: bound.nonce },
      });
    },
  );

  test('S5 a response without the configured issuer is refused, because this provider sends iss', async () => {
    const client = clientOf('basic');
    const response = await signIn(client);
    expect(response.query['iss']).toBe(provider.issuer);
    const { iss: _, ...without } = response.query;
    for (const query of [without, { ...without, iss: 'https://evil.test' }]) {
      await expect(outbound.redeem(client, { ...response, query })).rejects.toMatchObject({
        code: 'provider_refused',
        extra: { stage: 'authorization', reason: 'iss_invalid' },
      });
    }
  });

  test('S1 a code that was bound to another verifier is refused', async () => {
    const client = clientOf('basic');
    const response = await signIn(client);
    await expect(
      outbound.redeem(client, { ...response, codeVerifier: 'w'.repeat(43) }),
    ).rejects.toMatchObject({
      code: 'provider_refused',
      extra: { stage: 'token', reason: 'invalid_grant' },
    });
  });

  test('§4.1 a code that is used again is refused', async () => {
    const client = clientOf('basic');
    const response = await signIn(client);
    await outbound.redeem(client, response);
    await expect(outbound.redeem(client, response)).rejects.toMatchObject({
      extra: { reason: 'invalid_grant' },
    });
  });

  test('§4.1 a wrong client secret is refused with a hint', async () => {
    const client = clientOf('basic');
    const response = await signIn(client);
    await expect(
      outbound.redeem({ ...client, clientSecret: 'wrong' }, response),
    ).rejects.toMatchObject({
      code: 'provider_refused',
      extra: { stage: 'token', reason: 'invalid_client' },
      hint: expect.stringContaining('client secret'),
    });
  });
});
