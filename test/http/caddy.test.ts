import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAuthority } from '../support/certificates.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { type Installation, install } from '../support/installation.ts';
import { blocksOf } from '../support/operations.ts';
import { freePorts } from '../support/ports.ts';
import { startCaddyWith } from '../support/proxies.ts';

// Runs the Caddy of docs/operations/proxy.md in front of one daemon.

const missing = counterpartMissing('caddy');
let site: Installation;
let caddy: Awaited<ReturnType<typeof startCaddyWith>>;
let origin: string;
let browser: Agent;

beforeAll(async () => {
  if (missing) return;
  const [port = 0] = await freePorts(1);
  origin = `https://localhost:${port}`;
  site = await install({
    env: { IDCTL_BASE_URL: origin, IDCTL_HTTP_TRUSTED_PROXIES: '127.0.0.1' },
  });
  const { url } = await site.serve();
  const authority = await createAuthority(site.folder);
  const { certFile, keyFile } = await authority.issue('DNS:localhost');
  const documented = blocksOf('caddy')[0] ?? '';
  expect(documented).toMatch(/^id\.example\.com \{\n.*127\.0\.0\.1:8420\n\}\n$/);
  const sites = documented
    .replace('id.example.com {', `${origin} {\n\ttls ${certFile} ${keyFile}`)
    .replace('127.0.0.1:8420', new URL(url).host);
  caddy = await startCaddyWith(sites, port);
  const ca = await readFile(authority.caFile, 'utf8');
  // The browser's address differs from the proxy's.
  browser = new Agent({ localAddress: '127.0.0.2', connect: { ca, family: 4 } });
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await caddy?.stop();
  await site?.close();
});

async function signIn(headers: Record<string, string>) {
  const answer = await request(`${origin}/api/v1/auth/login`, {
    method: 'POST',
    dispatcher: browser,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(site.owner),
  });
  await answer.body.dump();
  return answer;
}

describe.skipIf(missing)('behind Caddy, as docs/operations/proxy.md says', () => {
  test('cookies are Secure, HSTS is on, and another origin is refused', async () => {
    const { statusCode, headers } = await signIn({ origin });
    expect(statusCode).toBe(200);
    for (const cookie of [headers['set-cookie'] ?? []].flat())
      expect(cookie).toMatch(/; Secure(;|$)/);
    expect(headers['strict-transport-security']).toContain('max-age=31536000');
    expect((await signIn({ origin: 'https://evil.example' })).statusCode).toBe(403);
  });

  test('P9 the address of a session is the client’s behind Caddy too, whatever its headers claim', async () => {
    await signIn({ 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' });
    const addresses = await site.query('SELECT DISTINCT address FROM sessions');
    expect(addresses).toEqual([{ address: '127.0.0.2' }]);
  });
});
