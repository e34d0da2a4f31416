import { describe, expect, test } from 'vitest';
import { hintLike } from '../support/hints.ts';
import { openNetwork } from '../support/network.ts';
import { bound, client, provider, redeem, shortenTime, useLyingProvider } from './lying.ts';

useLyingProvider();

describe('S9 the guard covers every endpoint', () => {
  test('S9 a provider on loopback that the operator did not allow is refused', async () => {
    const strict = openNetwork({});
    await expect(strict.authorizationUrl(client(), bound)).rejects.toMatchObject({
      code: 'outbound_refused',
      hint: hintLike('outbound.allow'),
    });
    await strict.close();
    expect(provider.seen).toEqual([]);
  });

  test.each(['token_endpoint', 'userinfo_endpoint', 'jwks_uri'])(
    'S9 a %s that discovery points into the private network is refused',
    async (endpoint) => {
      provider.answers.discovery = () => ({
        body: { ...provider.document(), [endpoint]: 'https://169.254.169.254/latest' },
      });
      await expect(redeem()).rejects.toMatchObject({
        code: 'outbound_refused',
        extra: {
          reason: 'metadata',
          stage: endpoint === 'jwks_uri' ? 'token' : endpoint.split('_')[0],
        },
      });
    },
  );

  const endpoints = ['discovery', 'token', 'jwks', 'userinfo'] as const;
  const ends = [
    ['redirected', () => ({ status: 307, headers: { location: '/token' }, body: '' })],
    ['too_large', () => ({ body: endless() })],
    ['timeout', () => ({ body: dripping() })],
  ] as const;
  test.each(
    endpoints.flatMap((endpoint) =>
      ends.map(([reason, answer]) => [endpoint, reason, answer] as const),
    ),
  )(
    'S9 a %s endpoint that redirects or never ends its answer fails (%s)',
    async (endpoint, reason, answer) => {
      provider.answers[endpoint] = answer;
      if (reason === 'timeout') await shortenTime();
      await expect(redeem()).rejects.toMatchObject({ code: 'provider_failed', extra: { reason } });
    },
  );

  test.each<['discovery' | 'token' | 'jwks' | 'userinfo', number | string]>([
    ['discovery', 500],
    ['discovery', '<html>'],
    ['discovery', '[]'],
    ['token', 503],
    ['token', '<html>'],
    ['jwks', 404],
    ['jwks', '<html>'],
    ['userinfo', 500],
    ['userinfo', '<html>'],
  ])('§7 if %s answers %s, the refusal is provider_failed', async (endpoint, what) => {
    provider.answers[endpoint] = () =>
      typeof what === 'number'
        ? { status: what, body: {} }
        : { headers: { 'content-type': 'text/html' }, body: what };
    await expect(redeem()).rejects.toMatchObject({ code: 'provider_failed' });
  });
});

async function* endless() {
  const block = 'x'.repeat(64 * 1024);
  for (;;) yield block;
}

async function* dripping() {
  for (;;) {
    yield ' ';
    await new Promise((after) => setTimeout(after, 20));
  }
}
