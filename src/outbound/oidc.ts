import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  enableNonRepudiationChecks,
  fetchProtectedResource,
  fetchUserInfo,
  type IDToken,
  skipSubjectCheck,
} from 'openid-client';
import { z } from 'zod';
import { createDiscovery, type ProviderMetadata } from './discovery.ts';
import { causes } from './failure.ts';
import type { BoundedFetch } from './http.ts';
import type { AuthorizationResponse, Outbound, Proof, ProviderClient } from './outbound.ts';
import { providerFailed, providerRefusal } from './provider-refusal.ts';

/** The accepted algorithms (security S4), which replace the list in the provider's metadata. */
export const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/** A client at an identity provider, with its secret. */
export type Confidential = ProviderClient & { clientSecret: string };

/** Signs people in at OpenID providers (S1, S4, S5, S8), each call within `total` milliseconds. */
export function createProviders(
  fetch: BoundedFetch,
  total: number,
): Pick<Outbound, 'authorizationUrl' | 'redeem'> {
  const discovery = createDiscovery(adapted(fetch));
  return {
    async authorizationUrl(client, { state, nonce, codeVerifier }) {
      const metadata = await discovery.read(client.issuer);
      const configuration = new Configuration(metadata, client.clientId);
      allowInsecureRequests(configuration);
      return buildAuthorizationUrl(configuration, {
        redirect_uri: new URL(client.redirectUri).href,
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      }).href;
    },
    async redeem(client, response) {
      const deadline = AbortSignal.timeout(total);
      const metadata = await discovery.read(client.issuer);
      try {
        const configuration = configure(metadata, client, adapted(fetch, deadline));
        return await redeem(configuration, client, response);
      } catch (error) {
        discovery.forget(client.issuer);
        throw error;
      }
    },
  };
}

/** The ways in which idctl can send a client secret. */
export type SecretMethod = 'client_secret_basic' | 'client_secret_post';

/** HTTP Basic, unless the provider lists `client_secret_post` and not `client_secret_basic`. */
export function secretMethodFor(metadata: ProviderMetadata): SecretMethod {
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const inBody = methods.includes('client_secret_post') && !methods.includes('client_secret_basic');
  return inBody ? 'client_secret_post' : 'client_secret_basic';
}

/**
 * Sends the secret with HTTP Basic (RFC 6749 §2.3.1). Encodes only `%`, `+` and characters that are
 * not visible ASCII: some providers do not decode, so they receive an ordinary secret unchanged.
 */
function secretByBasic(secret: string): ClientAuth {
  return (_server, { client_id: id }, _body, headers) => {
    const pair = `${formEscaped(id).replaceAll(':', '%3A')}:${formEscaped(secret)}`;
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
  };
}

function formEscaped(text: string): string {
  return text.toWellFormed().replace(/[^\x21-\x7e]|[%+]/gu, encodeURIComponent);
}

/** The library's configuration for a client: how it sends its secret, and accepted algorithms. */
export function configure(
  metadata: ProviderMetadata,
  client: Confidential,
  fetch: CustomFetch,
  method = secretMethodFor(metadata),
): Configuration {
  const secret = client.clientSecret;
  const configuration = new Configuration(
    {
      ...metadata,
      id_token_signing_alg_values_supported: algorithms,
      userinfo_signing_alg_values_supported: algorithms,
    },
    client.clientId,
    undefined,
    method === 'client_secret_post' ? ClientSecretPost(secret) : secretByBasic(secret),
  );
  configuration[customFetch] = fetch;
  // The guard decides about http for each host, so the library must allow http.
  allowInsecureRequests(configuration);
  enableNonRepudiationChecks(configuration);
  return configuration;
}

async function redeem(
  configuration: Configuration,
  client: Confidential,
  response: AuthorizationResponse,
): Promise<Proof> {
  const { accessToken, idToken } = await exchange(configuration, client, response);
  const userinfo = await readUserinfo(configuration, accessToken, idToken?.sub);
  const subject = idToken?.sub ?? (typeof userinfo['sub'] === 'string' ? userinfo['sub'] : null);
  if (subject !== null && !isSubject(subject)) {
    throw providerFailed(
      'userinfo',
      'sub_invalid',
      'its subject is too long or contains control characters',
    );
  }
  const { hd } = { ...userinfo, ...idToken };
  const managedBy = typeof hd === 'string' && hd !== '' ? hd : null;
  return { issuer: client.issuer, subject, userinfo, idToken: idToken ?? {}, managedBy };
}

/**
 * Whether the subject has at most 255 characters (OpenID Connect Core §2) and no control character.
 */
function isSubject(subject: string): boolean {
  return subject.length <= 255 && !/\p{Cc}/u.test(subject);
}

async function exchange(
  configuration: Configuration,
  client: Confidential,
  { query, state, nonce, codeVerifier }: AuthorizationResponse,
): Promise<{ accessToken: string; idToken?: IDToken }> {
  const callback = new URL(client.redirectUri);
  callback.search = new URLSearchParams(query).toString();
  const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier };
  try {
    const tokens = await authorizationCodeGrant(configuration, callback, checks);
    const idToken = tokens.claims();
    return { accessToken: tokens.access_token, ...(idToken ? { idToken } : {}) };
  } catch (error) {
    const accessToken = accessTokenAlone(error);
    if (accessToken !== undefined) return { accessToken };
    throw providerRefusal(error, 'token');
  }
}

const withoutIdToken = z.object({
  body: z.object({
    access_token: z.string(),
    token_type: z.literal('bearer'),
    id_token: z.never().optional(),
  }),
});

/**
 * The OAuth access token of a token response whose only fault is a missing ID token: spec §4.1
 * requires only userinfo. The library refuses such a response, but its error contains the response.
 */
function accessTokenAlone(error: unknown): string | undefined {
  const refused = causes(error).find((one) => /"id_token" property/.test(one.message));
  return withoutIdToken.safeParse(refused?.cause).data?.body.access_token;
}

async function readUserinfo(
  configuration: Configuration,
  accessToken: string,
  subject: string | undefined,
): Promise<Record<string, unknown>> {
  try {
    return await fetchUserInfo(configuration, accessToken, subject ?? skipSubjectCheck);
  } catch (error) {
    if (subject === undefined && lacksSubject(error))
      return readWithoutSubject(configuration, accessToken);
    throw providerRefusal(error, 'userinfo');
  }
}

function lacksSubject(error: unknown): boolean {
  const refused = causes(error).find((one) => /"sub" property/.test(one.message));
  return z.object({ body: z.object({ sub: z.never().optional() }) }).safeParse(refused?.cause)
    .success;
}

// The library refuses userinfo without `sub` (OpenID Connect Core §5.3.2). Here the caller decides.
// Only plain JSON is read, as a signed response would not be verified.
async function readWithoutSubject(
  configuration: Configuration,
  accessToken: string,
): Promise<Record<string, unknown>> {
  const endpoint = new URL(configuration.serverMetadata().userinfo_endpoint ?? '');
  const headers = new Headers({ accept: 'application/json' });
  try {
    const response = await fetchProtectedResource(
      configuration,
      accessToken,
      endpoint,
      'GET',
      null,
      headers,
    );
    const claims = z.record(z.string(), z.unknown()).safeParse(await response.json());
    if (response.ok && claims.success && claims.data['sub'] === undefined) return claims.data;
  } catch (error) {
    throw providerRefusal(error, 'userinfo');
  }
  throw providerFailed('userinfo', 'malformed', 'it is malformed');
}

/** The fetch as a function that the library can call. */
export function adapted(fetch: BoundedFetch, signal?: AbortSignal): CustomFetch {
  return (url, { method, headers, body }) =>
    fetch(url, { method, headers, body: body instanceof URLSearchParams ? body : null, signal });
}
