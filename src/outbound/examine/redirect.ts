import { buildAuthorizationUrl, type CustomFetch, calculatePKCECodeChallenge } from 'openid-client';
import { type Finding, right, wrong } from '../../finding.ts';
import type { ProviderMetadata } from '../discovery.ts';
import type { BoundedFetch } from '../http.ts';
import { type Confidential, configure } from '../oidc.ts';
import { random, refusalAsNull } from './client.ts';

/**
 * Whether the provider redirects people back to the redirect URI. The request has `prompt=none`, so
 * the provider does not show a page (OpenID Connect Core §3.1.2.1). A provider that knows the URI
 * then redirects to it with an error. Others must not redirect (RFC 6749 §4.1.2.1).
 */
export async function examineRedirect(
  fetch: BoundedFetch,
  metadata: ProviderMetadata,
  client: Confidential,
  deadline: AbortSignal,
): Promise<Finding> {
  const register = `Register exactly ${client.redirectUri} for this client at the provider.`;
  const url = await silentRequest(metadata, client);
  // Only the browser needs to reach this URL, so a failure on this machine is not a fault.
  const response = await fetch(url.href, { signal: deadline, redirects: 'show' }).catch(
    refusalAsNull,
  );
  if (response === null) return right('cannot be tested from this machine', register);
  if (response.status === 400 || response.status === 403) {
    return wrong(`an error page (HTTP ${response.status}) instead of a redirect back`, register);
  }
  const back = wayBack(response, url, client.redirectUri);
  if (back === null) return right('cannot be tested without a browser', register);
  const blocking = blockers.find((error) => error === back.get('error'));
  if (blocking === undefined) return right('the provider sends people back to it');
  return wrong(
    `the provider sends people back with ${blocking}`,
    'Allow this client the authorization code flow, and the scopes openid, email and profile.',
  );
}

const blockers = ['invalid_scope', 'unauthorized_client', 'unsupported_response_type'];

async function silentRequest(metadata: ProviderMetadata, client: Confidential): Promise<URL> {
  const unasked: CustomFetch = () =>
    Promise.reject(new Error('building a URL must send no request'));
  return buildAuthorizationUrl(configure(metadata, client, unasked), {
    redirect_uri: new URL(client.redirectUri).href,
    scope: 'openid email profile',
    prompt: 'none',
    state: random(),
    nonce: random(),
    code_challenge: await calculatePKCECodeChallenge(random()),
    code_challenge_method: 'S256',
  });
}

/** The parameters that the response sends to the redirect URI; null if it does not lead there. */
function wayBack(response: Response, from: URL, redirectUri: string): URLSearchParams | null {
  const location = response.headers.get('location');
  if (location === null || !URL.canParse(location, from.href)) return null;
  const { origin, pathname, searchParams } = new URL(location, from);
  const expected = new URL(redirectUri);
  return origin === expected.origin && pathname === expected.pathname ? searchParams : null;
}
