import { afterEach, beforeEach } from 'vitest';
import type { Outbound } from '../../src/outbound/outbound.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { openNetwork } from '../support/network.ts';

// Shared by the tests of idctl as the client of an OpenID provider.

/** The values that the sign-in bound to its request. */
export const bound = { state: 'state-1', nonce: 'nonce-1', codeVerifier: 'v'.repeat(43) };
/** The bound values with the honest callback. */
export const said = { ...bound, query: { code: 'code-1', state: 'state-1' } };

/** The provider. It is honest until a test replaces an answer. */
export let provider: LyingProvider;
/** The network, which may reach the provider. */
export let outbound: Outbound;

/** Gives each test of the file a fresh provider and a fresh network. */
export function useLyingProvider(): void {
  beforeEach(async () => {
    provider = await startLyingProvider('idctl', bound.nonce);
    outbound = openNetwork(toProvider);
  });
  afterEach(async () => {
    await outbound.close();
    await provider.stop();
  });
}

const toProvider = { outbound: { allow: ['127.0.0.1'] } };

/** Shortens the network's time limit for the rest of a test with a provider that never ends. */
export async function shortenTime(): Promise<void> {
  await outbound.close();
  outbound = openNetwork(toProvider, { total: 1000 });
}

/** The client that is registered at the provider. */
export const client = (issuer = provider.issuer) => ({
  issuer,
  clientId: 'idctl',
  clientSecret: 'a:b/c d',
  redirectUri: 'http://127.0.0.1:8420/auth/sso/callback',
});
/** Starts a sign-in, and returns its authorization URL. */
export const start = () => outbound.authorizationUrl(client(), bound);
/** Redeems the honest callback, or a callback with another query. */
export const redeem = (query: Record<string, string> = said.query) =>
  outbound.redeem(client(), { ...said, query });
/** The requests that came for a path. */
export const asked = (path: string) => provider.seen.filter((one) => one.path === path);

/** Makes the token endpoint return this value as the ID token. */
export function answerIdToken(idToken: unknown) {
  provider.answers.token = () => ({
    body: { access_token: 'opaque', token_type: 'Bearer', id_token: idToken },
  });
}
