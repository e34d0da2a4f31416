import type { SecureContext } from 'node:tls';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  customFetch,
} from 'openid-client';
import { z } from 'zod';
import type { Config } from '../config/schema.ts';
import { Refusal } from '../errors.ts';
import { type BoundedFetch, trustedClient } from './http.ts';
import type { Limits } from './limits.ts';
import { adapted, createProviders } from './oidc.ts';
import type {
  AuthorizationRequest,
  AuthorizationResponse,
  Outbound,
  SocialClient,
  SocialWord,
} from './outbound.ts';
import { providerFailed, providerRefusal } from './provider-refusal.ts';

// Google and GitHub. Their addresses come from the operator's configuration, so the guard does not
// check them. Plain http is allowed only if the configured address uses http.

type Confidential = SocialClient & { clientSecret: string };

/** Connects to the social providers at their configured addresses (spec §5.4). */
export function openSocialProviders(
  { google, github }: Config['social'],
  roots: SecureContext | undefined,
  limits: Limits,
): Pick<Outbound, 'socialUrl' | 'redeemSocial' | 'close'> {
  const trusted = trustedClient(roots, limits);
  const openid = createProviders(
    asEncryptedAs('google.issuer', google.issuer, trusted.fetch),
    limits.total,
  );
  const fetch = asEncryptedAs('github.baseUrl', github.baseUrl, trusted.fetch);
  return {
    socialUrl: (client, request) =>
      client.provider === 'google'
        ? openid.authorizationUrl(client, request)
        : githubUrl(client, request),
    async redeemSocial(client, response) {
      if (client.provider === 'github')
        return redeemAtGitHub(client, response, fetch, limits.total);
      return readGoogle(await openid.redeem(client, response));
    },
    close: () => trusted.close(),
  };
}

/** A fetch that refuses plain http if the configured address uses https. */
function asEncryptedAs(setting: string, configured: string, fetch: BoundedFetch): BoundedFetch {
  if (configured.startsWith('http:')) return fetch;
  return async (url, options) => {
    if (url.startsWith('https:')) return fetch(url, options);
    const { host } = new URL(url);
    const message = `social.${setting} leads to http://${host}, which is not encrypted.`;
    const failure = { reason: 'plain_http' } as const;
    throw new Refusal('outbound_refused', message, { failure, extra: failure });
  };
}

type Proof = Awaited<ReturnType<Outbound['redeem']>>;

/** The person in Google's validated ID token. Refuses an answer without one. */
function readGoogle({ issuer, subject, userinfo, idToken, managedBy }: Proof): SocialWord {
  if (idToken['sub'] === undefined || subject === null) {
    throw providerFailed('id_token', 'id_token_missing', 'the response contains none');
  }
  const { email, email_verified: verified, name } = { ...userinfo, ...idToken };
  return {
    issuer,
    subject,
    email: typeof email === 'string' ? email : null,
    emailVerified: verified === true || verified === 'true',
    managedBy,
    name: typeof name === 'string' ? name : null,
  };
}

function gitHub({ issuer, clientId }: SocialClient, clientSecret?: string): Configuration {
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/login/oauth/authorize`,
    token_endpoint: `${issuer}/login/oauth/access_token`,
  };
  const proof = clientSecret === undefined ? undefined : ClientSecretPost(clientSecret);
  const configuration = new Configuration(metadata, clientId, undefined, proof);
  allowInsecureRequests(configuration);
  return configuration;
}

async function githubUrl(
  client: SocialClient,
  { state, codeVerifier }: AuthorizationRequest,
): Promise<string> {
  return buildAuthorizationUrl(gitHub(client), {
    redirect_uri: client.redirectUri,
    scope: 'read:user user:email',
    state,
    code_challenge: await calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
  }).href;
}

async function redeemAtGitHub(
  client: Confidential,
  { query, state, codeVerifier }: AuthorizationResponse,
  fetch: BoundedFetch,
  total: number,
): Promise<SocialWord> {
  const signal = AbortSignal.timeout(total);
  const configuration = gitHub(client, client.clientSecret);
  configuration[customFetch] = adapted(fetch, signal);
  const callback = new URL(client.redirectUri);
  callback.search = new URLSearchParams(query).toString();
  const checks = { expectedState: state, pkceCodeVerifier: codeVerifier };
  const granting = authorizationCodeGrant(configuration, callback, checks);
  const { access_token: token } = await granting.catch((error: unknown) => {
    throw providerRefusal(error, 'token');
  });
  const ask = <T>(path: string, schema: z.ZodType<T>) =>
    askGitHub(client, path, schema, { fetch, signal, token });
  const [user, emails] = await Promise.all([
    ask('/user', userSchema),
    ask('/user/emails?per_page=100', emailsSchema),
  ]);
  const primary = emails.find((one) => one.primary);
  return {
    issuer: client.issuer,
    subject: String(user.id),
    email: primary?.email ?? null,
    emailVerified: primary?.verified === true,
    managedBy: null,
    name: user.name ?? user.login,
  };
}

const userSchema = z.object({
  id: z.int().positive(),
  login: z.string(),
  name: z.string().nullish(),
});
const emailsSchema = z.array(
  z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }),
);

/** The URL of the API: github.com has it on another host, an Enterprise Server below `/api/v3`. */
function apiOf(base: string): string {
  return new URL(base).host === 'github.com' ? 'https://api.github.com' : `${base}/api/v3`;
}

async function askGitHub<T>(
  { issuer }: SocialClient,
  path: string,
  schema: z.ZodType<T>,
  { fetch, signal, token }: { fetch: BoundedFetch; signal: AbortSignal; token: string },
): Promise<T> {
  const headers = {
    Accept: 'application/vnd.github+json',
    Authorization: `Bearer ${token}`,
    'User-Agent': 'idctl',
    'X-GitHub-Api-Version': '2022-11-28',
  };
  try {
    const response = await fetch(apiOf(issuer) + path, { headers, signal });
    if (response.ok) return schema.parse(await response.json());
  } catch (error) {
    throw providerRefusal(error, 'userinfo');
  }
  throw providerFailed('userinfo', 'unexpected_status', 'it came with an unexpected HTTP status');
}
