import type { JWK } from 'jose';
import { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { sessionSeconds } from '../../foundation/time.ts';
import { adapterOf, cookieName, markOfRequest } from './adapters.ts';
import { claimsByScope, claimsOf } from './claims.ts';
import { createPolicy, findGrant, scopes } from './policy.ts';
import { readBarred, readMember } from './read-once.ts';
import { type ProviderRequest, requestNow } from './request.ts';
import { acrValues } from './strength.ts';

// The package's settings: endpoints, lifetimes, features, and its calls to idctl.

const accessTokenSeconds = 600;
const codeSeconds = 60;
const requestSeconds = 3600;

/** The settings of the package for the base URL, with these keys for ID tokens. */
export function configureProvider(baseUrl: string, keys: JWK[]): Configuration {
  const cookie = { httpOnly: true, sameSite: 'lax', overwrite: true } as const;
  return {
    adapter: adapterOf,
    // The package accepts these private keys, although it declares a different type for a JWK.
    jwks: { keys: keys as NonNullable<Configuration['jwks']>['keys'] },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    responseTypes: ['code'],
    enabledJWA: { idTokenSigningAlgValues: ['RS256', 'EdDSA'] },
    subjectTypes: ['public'],
    scopes,
    claims: claimsByScope,
    acrValues: [...acrValues],
    conformIdTokenClaims: false,
    pkce: { required: (_koa, client) => requestNow().clients.get(client.clientId)?.pkce !== false },
    routes: {
      authorization: '/oauth/authorize',
      token: '/api/v1/oauth/token',
      introspection: '/api/v1/oauth/introspect',
      revocation: '/api/v1/oauth/revoke',
      userinfo: '/oauth/userinfo',
      jwks: '/.well-known/jwks.json',
      end_session: '/oauth/logout',
    },
    cookies: {
      names: {
        session: cookieName(baseUrl, 'oauth_none'),
        interaction: cookieName(baseUrl, 'oauth_sign_in'),
        resume: cookieName(baseUrl, 'oauth_resume'),
      },
      short: cookie,
      long: cookie,
    },
    features: {
      devInteractions: { enabled: false },
      claimsParameter: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      resourceIndicators: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: async (_koa, client, token) => token.clientId === client.clientId,
      },
      introspection: {
        enabled: true,
        allowedPolicy: async (_koa, client, token) =>
          token.clientId === client.clientId &&
          'accountId' in token &&
          (await isAdmitted(requestNow(), client.clientId, String(token.accountId))),
      },
    },
    extraParams: {
      // The package calls this for every authorization request, after it has checked the scope.
      again: (koa) => {
        requireOpenId(koa);
        restoreOfflineAccess(koa);
      },
      expected_sub: null,
    },
    interactions: { policy: createPolicy(), url: signInUrl },
    findAccount,
    loadExistingGrant: findGrant,
    expiresWithSession: () => true,
    issueRefreshToken: (_koa, client, code) =>
      client.grantTypeAllowed('refresh_token') && code.scopes.has('offline_access'),
    rotateRefreshToken: true,
    ttl: {
      AccessToken: accessTokenSeconds,
      AuthorizationCode: codeSeconds,
      IdToken: accessTokenSeconds,
      Interaction: requestSeconds,
      RefreshToken: sessionSeconds,
      Grant: sessionSeconds,
      Session: sessionSeconds,
    },
    renderError: (koa, out, error) => requestNow().pages.fail(koa, out, error),
  };
}

/** Refuses a request without the scope `openid`: every client of idctl signs people in. */
function requireOpenId({ oidc: { params } }: KoaContextWithOIDC): void {
  const asked = String(params?.['scope'] ?? '').split(' ');
  if (!asked.includes('openid'))
    throw new errors.InvalidScope('the scope openid must be requested', 'openid');
}

/** Restores `offline_access`: without consent, the package drops it. idctl has no consent page. */
function restoreOfflineAccess({ query, oidc: { params } }: KoaContextWithOIDC): void {
  const asked = String(query['scope'] ?? '').split(' ');
  const kept = String(params?.['scope'] ?? '').split(' ');
  if (params === undefined || !asked.includes('offline_access')) return;
  if (!kept.includes('offline_access')) params['scope'] = [...kept, 'offline_access'].join(' ');
}

/**
 * The URL of the sign-in page, which leads back to the waiting request. With `fresh`, a person who
 * is signed in must sign in again.
 */
function signInUrl(
  { oidc }: KoaContextWithOIDC,
  { uid, params }: { uid: string; params: Record<string, unknown> },
): string {
  const visit = requestNow();
  const back = new URLSearchParams({ client: markOfRequest(visit, uid, params) });
  if (visit.session !== null) back.set('fresh', '1');
  const query = new URLSearchParams({ returnTo: `/oauth/authorize/${uid}?${back}` });
  const hint = oidc.params?.['login_hint'];
  if (typeof hint === 'string' && /^[^@]{1,64}@[^@]{1,255}$/.test(hint))
    query.set('identifier', hint);
  return `/login?${query}`;
}

/**
 * The account; undefined if it may no longer use the token's client. Without a token, the policy
 * makes this check.
 */
async function findAccount({ oidc }: KoaContextWithOIDC, accountId: string, token?: object) {
  const visit = requestNow();
  const clientId = oidc.client?.clientId ?? '';
  if (token !== undefined && !(await isAdmitted(visit, clientId, accountId))) return undefined;
  const bound = token !== undefined && 'sessionUid' in token ? token.sessionUid : null;
  const sessionId = String(bound ?? visit.session?.id);
  return {
    accountId,
    claims: async (_use: string, scope: string) => {
      const client = visit.clients.get(clientId);
      if (client === undefined) throw new errors.InvalidClient('no client');
      const person = await readMember(visit, client, accountId);
      return claimsOf(person, accountId, sessionId, scope);
    },
  };
}

async function isAdmitted(
  visit: ProviderRequest,
  clientId: string,
  accountId: string,
): Promise<boolean> {
  const client = visit.clients.get(clientId);
  return client !== undefined && (await readBarred(visit, client, accountId)) === null;
}
