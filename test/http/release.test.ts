import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { fresh } from '../support/builders.ts';
import type { Daemon } from '../support/daemon.ts';
import { createClient } from '../support/http.ts';
import { baseUrl, type Installation, install } from '../support/installation.ts';
import { samlConnected, signInBySaml } from '../support/saml.ts';

// Tests what only a release can lack. The other HTTP tests run the sources in their own process.

let site: Installation;
let daemon: Daemon;
let operator: () => Context;
let bySaml: Awaited<ReturnType<typeof samlConnected>>;

beforeAll(async () => {
  site = await install({
    prepare: async (byOperator) => {
      operator = byOperator;
      bySaml = await samlConnected({ operator });
    },
  });
  daemon = await site.serve();
});
afterAll(() => site.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(daemon.url + path, { headers });

test('a release answers an undecodable path like the sources, and does not log a bug', async () => {
  const below = `/scim/v2/orgs/${crypto.randomUUID()}/Users/%ZZ`;
  const statuses = await Promise.all(
    ['/%ZZ', '/healthz/%ZZ', below].map(async (path) => (await get(path)).status),
  );
  expect(statuses).toEqual([404, 404, 401]);
  expect((await get(below)).headers.get('content-type')).toContain('application/scim+json');
  expect(daemon.log()).not.toContain('"bug"');
});

test('a release contains the pages, their style sheet, and the API reference with all its files', async () => {
  for (const path of ['/login', '/api/v1/docs']) {
    const page = await (await get(path, { accept: 'text/html' })).text();
    const parts = [...page.matchAll(/(?:href|src)="(?!data:)([^"]+\.(?:css|js))"/g)].map(
      ([, part = '']) => part,
    );
    expect(parts.length).toBeGreaterThan(0);
    for (const part of parts) {
      const answer = await get(new URL(part, `${daemon.url}${path}`).pathname);
      expect([part, answer.status]).toEqual([part, 200]);
    }
  }
});

test('in a release, a person can sign in, and a slow SCIM filter is answered', async () => {
  const login = await fetch(`${daemon.url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(site.owner),
  });
  expect(login.status).toBe(200);
  const { out } = await site.run(['scim', 'token', 'rotate', '--org', 'acme', '--json', '--quiet']);
  const { token, baseUrl } = JSON.parse(out);
  const filter = encodeURIComponent('emails[value co "a"] or name.familyName sw "b"');
  const path = `${new URL(baseUrl).pathname}/Users?filter=${filter}`;
  // On a busy machine, the reading thread may start too late for its first query.
  const ask = async () => (await get(path, { authorization: `Bearer ${token}` })).status;
  await expect.poll(ask, { timeout: 60_000 }).toBe(200);
});

test('in a release, a person can sign in by SAML', async () => {
  const client = () => createClient(daemon.url, { keepCookies: true });
  const email = `${fresh('ada')}@${bySaml.domain}`;
  const { answer } = await signInBySaml({ operator, baseUrl, client }, bySaml, { email });
  expect(answer).toMatchObject({ status: 200, body: { user: { email } } });
});
