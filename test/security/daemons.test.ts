import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDomain, assertDomain } from '../../src/services/tenancy/domains/operations.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import type { Daemon } from '../support/daemon.ts';
import { createClient } from '../support/http.ts';
import { type Installation, install } from '../support/installation.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { registration } from '../support/sso.ts';
import { failed, vouch } from './returning.ts';

// These rules hold across processes: two daemons share one database, and one of them restarts.

const domain = 'acme.test';

let at: LyingProvider;
let site: Installation;
let one: Daemon;
let two: Daemon;
beforeAll(async () => {
  at = await startLyingProvider(registration.clientId, '');
  const org = 'acme';
  const connection = {
    org,
    emailDomain: domain,
    issuer: at.issuer,
    ...registration,
    enabled: true,
  };
  site = await install({
    env: { IDCTL_OUTBOUND_ALLOW: '127.0.0.1' },
    prepare: async (operator) => {
      await addDomain(operator(), { org, domain });
      await assertDomain(operator(), { org, domain });
      await saveSso(operator(), saveSsoInput.parse(connection));
    },
  });
  [one, two] = await Promise.all([site.serve(), site.serve()]);
}, 120_000);
afterAll(async () => {
  await site?.close();
  await at?.stop();
});

/** Starts a sign-in at a daemon. Returns a function that sends the callback to any daemon. */
async function leave(daemon: Daemon) {
  const browser = createClient(daemon.url, { keepCookies: true });
  const answer = await browser.get(`/auth/sso/start?domain=${domain}`);
  const { searchParams } = new URL(answer.body.authorizationUrl);
  await vouch(at, searchParams.get('nonce') ?? '', {
    sub: 'ada',
    email: `ada@${domain}`,
    email_verified: true,
  });
  const cookie = `sso_flow=${browser.jar.get('sso_flow')}`;
  const back = `/auth/sso/callback?${new URLSearchParams({ code: 'c', state: searchParams.get('state') ?? '' })}`;
  return (by: Daemon) => createClient(by.url).get(back, { cookie, 'sec-fetch-mode': 'navigate' });
}

async function signIn(daemon: Daemon) {
  const answer = await createClient(daemon.url).post('/api/v1/auth/login', site.owner);
  expect(answer.status).toBe(200);
  return answer.body;
}

const me = (daemon: Daemon, accessToken: string) =>
  createClient(daemon.url).get('/api/v1/me', { authorization: `Bearer ${accessToken}` });

describe('S2 the state', () => {
  test('S2 is accepted once over two daemons, whichever gets the callback', async () => {
    const comeBack = await leave(one);
    const answers = await Promise.all([one, two, one, two, one, two, one, two].map(comeBack));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)]);
  });

  test('S2 survives a restart with its browser binding, and a used state stays used', async () => {
    const spent = await leave(two);
    expect((await spent(two)).status).toBe(200);
    const unspent = await leave(two);
    expect(await two.stop()).toBe(0);
    two = await site.serve();
    expect(await spent(two)).toMatchObject(failed);
    expect((await unspent(two)).status).toBe(200);
  }, 60_000);
});

describe('P4 P2 sessions', () => {
  test('P4 twenty parallel refreshes of one token over two daemons leave one lineage', async () => {
    const { refreshToken } = await signIn(one);
    const refresh = (at: number, token: string) =>
      createClient((at % 2 === 0 ? one : two).url).post('/api/v1/auth/refresh', {
        refreshToken: token,
      });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => refresh(at, refreshToken)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const [successor, ...others] = new Set(answers.map(({ body }) => body.refreshToken));
    expect(others).toEqual([]);
    expect(successor).not.toBe(refreshToken);
    for (const daemon of [0, 1]) expect((await refresh(daemon, successor)).status).toBe(200);
    const { sid } = decodeJwt(successor);
    const lineage = await site.query(
      `SELECT rotated_at FROM refresh_tokens WHERE session_id = '${sid}'`,
    );
    expect(lineage.map((row) => row['rotated_at'] !== null).sort()).toEqual([false, true, true]);
  });

  test('P2 a session that one daemon ends is refused by the other at the next request', async () => {
    const { accessToken, refreshToken } = await signIn(one);
    expect([(await me(one, accessToken)).status, (await me(two, accessToken)).status]).toEqual([
      200, 200,
    ]);
    const ended = await createClient(one.url).post('/api/v1/auth/logout', { refreshToken });
    expect(ended.status).toBe(204);
    expect([(await me(one, accessToken)).status, (await me(two, accessToken)).status]).toEqual([
      401, 401,
    ]);
    const again = await createClient(two.url).post('/api/v1/auth/refresh', { refreshToken });
    expect(again.status).toBe(401);
  });

  test('P2 a session that the operator ends at the terminal is refused by the daemon at the next request', async () => {
    const { accessToken } = await signIn(one);
    expect((await me(one, accessToken)).status).toBe(200);
    expect(await site.run(['session', 'revoke', '--user', site.owner.email])).toMatchObject({
      code: 0,
    });
    expect((await me(one, accessToken)).status).toBe(401);
  });
});
