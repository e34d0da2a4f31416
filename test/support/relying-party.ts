import * as openid from 'openid-client';
import { orderedId } from '../../src/crypto/id.ts';
import { newSecret } from '../../src/crypto/secret.ts';
import { Client as ClientRow } from '../../src/database/models/client.ts';
import { transaction } from '../../src/database/transaction.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { organization, person, signedIn } from './builders.ts';
import type { Answer, Client } from './http.ts';
import type { Idctl } from './idctl.ts';

const redirectUri = 'https://app.example.test/callback';

/** Creates an organization with a member and a client. openid-client acts as the application. */
export async function application(idctl: Idctl, more: Partial<ClientRow> & { public?: true } = {}) {
  const org = await organization(idctl);
  const member = await person(idctl);
  const email = member.email ?? '';
  await addMember(idctl.operator(), { org: org.slug, email, role: 'member' });
  const { value: secret, hash } = newSecret('cos_secret_');
  const id = orderedId();
  const row = await transaction(() =>
    ClientRow.create({
      id,
      organizationId: org.id,
      name: 'Grafana',
      secretHash: more.public ? null : hash,
      redirectUris: [redirectUri],
      postLogoutRedirectUris: ['https://app.example.test/bye'],
      backchannelLogoutUri: null,
      pkce: true,
      idTokenAlg: 'RS256',
      projectId: null,
      role: null,
      createdAt: new Date(),
      ...more,
    }),
  );
  const clientId = `client-${id}`;
  const discover = () =>
    openid.discovery(
      new URL(idctl.baseUrl),
      clientId,
      { id_token_signed_response_alg: row.idTokenAlg },
      more.public ? openid.None() : openid.ClientSecretPost(secret),
      { execute: [openid.allowInsecureRequests, openid.enableNonRepudiationChecks] },
    );
  const config = await discover();
  return { org, member, email, row, clientId, secret, config, discover, ...flowOf(config) };
}

/** The steps of a code flow, as an application takes them. */
function flowOf(config: openid.Configuration) {
  const begin = async (params: Record<string, string> = {}) => {
    const verifier = openid.randomPKCECodeVerifier();
    const checks = { pkceCodeVerifier: verifier, expectedState: 'state', expectedNonce: 'nonce' };
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: 'openid email profile groups',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state: 'state',
      nonce: 'nonce',
      ...params,
    });
    return { url, path: url.pathname + url.search, checks };
  };
  /** Runs a whole flow in a signed-in browser. */
  const signIn = async (browser: Client, params: Record<string, string> = {}) => {
    const { path, checks } = await begin(params);
    const callback = await walk(browser, path);
    return openid.authorizationCodeGrant(config, new URL(callback), checks);
  };
  return { begin, signIn };
}

/** Follows redirects until one leaves idctl, and returns its address. */
export async function walk(browser: Client, path: string): Promise<string> {
  const answer = await walkTo(browser, path);
  const location = String(answer.headers['location']);
  if (!/^https?:/.test(location))
    throw new Error(`no redirect to the application: ${answer.status} ${answer.body}`);
  return location;
}

/** The page that refuses the person, and the address of its link back to the application. */
export async function walkToDenial(
  browser: Client,
  path: string,
): Promise<{ page: Answer; back: URL }> {
  const page = await walkTo(browser, path);
  const [, href = ''] = /href="([^"]*error=access_denied[^"]*)"/.exec(String(page.body)) ?? [];
  return { page, back: new URL(href.replaceAll('&amp;', '&')) };
}

/** Follows the redirects inside idctl, and returns the last answer. */
export async function walkTo(browser: Client, path: string): Promise<Answer> {
  let answer = await browser.get(path, { accept: 'text/html' });
  for (let step = 0; step < 8 && /^\//.test(String(answer.headers['location'] ?? '')); step += 1)
    answer = await browser.get(String(answer.headers['location']), { accept: 'text/html' });
  return answer;
}

/** A browser in which the person is signed in by password. */
export function browserOf(idctl: Idctl, email: string) {
  return signedIn(idctl, email);
}
