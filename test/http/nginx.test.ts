import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { createAuthority } from '../support/certificates.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { dialect } from '../support/database.ts';
import { createClient } from '../support/http.ts';
import { type Installation, install } from '../support/installation.ts';
import { documentedNginx, type Nginx, startNginx } from '../support/nginx.ts';
import { blocksOf } from '../support/operations.ts';
import { freePorts } from '../support/ports.ts';

// Runs the nginx of docs/operations/proxy.md in front of one daemon, and on PostgreSQL of two.

const missing = counterpartMissing('nginx');
let site: Installation;
let nginx: Nginx;
let origin: string;
let plain: string;
let browser: Agent;
const scim = { token: '', path: '' };

beforeAll(async () => {
  if (missing) return;
  const [tls = 0, http = 0] = await freePorts(2);
  origin = `https://localhost:${tls}`;
  plain = `http://127.0.0.1:${http}`;
  const { trustedProxies } = parse(blocksOf('yaml')[0] ?? '').http;
  site = await install({
    env: { IDCTL_BASE_URL: origin, IDCTL_HTTP_TRUSTED_PROXIES: trustedProxies.join(',') },
    prepare: async (operator) => {
      const made = await rotateScimToken(operator(), { org: 'acme' });
      Object.assign(scim, { token: made.token, path: new URL(made.baseUrl).pathname });
    },
  });
  const daemons = [await site.serve(), ...(dialect === 'postgres' ? [await site.serve()] : [])];
  const authority = await createAuthority(site.folder);
  const { certFile, keyFile } = await authority.issue('DNS:localhost');
  nginx = await startNginx(documentedNginx({ tls, http, certFile, keyFile, daemons }), tls);
  const ca = await readFile(authority.caFile, 'utf8');
  // The browser's address differs from the proxy's.
  browser = new Agent({ localAddress: '127.0.0.2', connect: { ca, family: 4 } });
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await nginx?.stop();
  await site?.close();
});

async function send(
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const sent =
    body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await request(`${origin}${path}`, {
    method,
    dispatcher: browser,
    headers: { ...type, ...headers },
    ...sent,
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, headers: answer.headers, body: text };
}

const signIn = (headers?: Record<string, string>) =>
  send('POST', '/api/v1/auth/login', site.owner, headers);

describe.skipIf(missing)('behind nginx, as docs/operations/proxy.md says', () => {
  test('cookies are Secure, HSTS is on, and http redirects to https', async () => {
    const { status, headers } = await signIn({ origin });
    expect(status).toBe(200);
    for (const cookie of [headers['set-cookie'] ?? []].flat())
      expect(cookie).toMatch(/; Secure(;|$)/);
    expect(headers['strict-transport-security']).toContain('max-age=31536000');
    expect((await signIn({ origin: 'https://evil.example' })).status).toBe(403);
    const redirected = await createClient(plain).get('/login?returnTo=%2F', { host: 'localhost' });
    expect([redirected.status, redirected.headers['location']]).toEqual([
      301,
      'https://localhost/login?returnTo=%2F',
    ]);
  });

  test('P9 the address of a session is the client’s, whatever the client’s headers claim', async () => {
    await signIn({ 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' });
    const addresses = await site.query('SELECT DISTINCT address FROM sessions');
    expect(addresses).toEqual([{ address: '127.0.0.2' }]);
  });

  test('every daemon behind nginx accepts the same session', async () => {
    const { accessToken } = JSON.parse((await signIn()).body);
    const asked = Array.from({ length: 6 }, () =>
      send('GET', '/api/v1/me', undefined, { authorization: `Bearer ${accessToken}` }),
    );
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(6).fill(200));
  });

  test('a large SCIM body passes, and idctl itself refuses one that is too large', async () => {
    const headers = {
      authorization: `Bearer ${scim.token}`,
      'content-type': 'application/scim+json',
    };
    const user = (size: number) =>
      JSON.stringify({ userName: 'big@acme.test', 'urn:x:note': 'x'.repeat(size) });
    const post = async (size: number) => {
      const { status, body } = await send('POST', `${scim.path}/Users`, user(size), headers);
      return [status, JSON.parse(body).schemas[0].includes('Error')];
    };
    expect(await post(200 * 1024)).toEqual([201, false]);
    expect(await post(400 * 1024)).toEqual([413, true]);
  });

  test('X11 a client sees the refusal of a body that idctl does not read', async () => {
    const large = '{}'.repeat(450 * 1024);
    for (let turn = 0; turn < 5; turn += 1) {
      const { status, body } = await send('POST', '/api/v1/orgs/acme/plan', large);
      expect([status, JSON.parse(body).code]).toEqual([401, 'unauthenticated']);
    }
  });
});
