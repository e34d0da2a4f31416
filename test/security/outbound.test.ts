import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { fresh } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { portOf } from '../support/ports.ts';
import { comeBack, connected, registration } from '../support/sso.ts';
import { returning, unusable, whyUnusable } from './returning.ts';

// These tests check security S9 in whole sign-ins: a provider's document names internal addresses,
// or its endpoints misbehave.

let idctl: Idctl;
let provider: LyingProvider;
let honest: LyingProvider['answers'];
let inside: Server;
let touched = 0;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
  provider = await startLyingProvider(registration.clientId, '');
  honest = { ...provider.answers };
  inside = createServer((socket) => {
    touched += 1;
    socket.destroy();
  });
  await new Promise<void>((listening) => inside.listen(0, '::', listening));
});
afterAll(async () => {
  await new Promise((closed) => inside.close(closed));
  await provider.stop();
  await idctl.close();
});

/** Internal addresses, which no organization may reach. Those with a port lead to `inside`. */
const places = (): [string, string][] => {
  const port = portOf(inside);
  return [
    ['loopback', `https://127.0.0.2:${port}/`],
    ['loopback in plain http', `http://127.0.0.2:${port}/`],
    ['loopback as one number', `https://2130706434:${port}/`],
    ['loopback in hexadecimal', `https://0x7f.0.0.2:${port}/`],
    ['IPv6 loopback', `https://[::1]:${port}/`],
    ['mapped loopback', `https://[::ffff:127.0.0.2]:${port}/`],
    ['translated loopback', `https://[64:ff9b::7f00:2]:${port}/`],
    ['the unspecified address', `https://0.0.0.0:${port}/`],
    ['link-local', 'https://169.254.169.254/latest/meta-data/'],
    ['IPv6 link-local', 'https://[fe80::1]/'],
    ['a private range', 'https://10.0.0.1/'],
    ['unique local', 'https://[fd00::1]/'],
    ['carrier-grade NAT', 'https://100.64.0.1/'],
  ];
};

describe('S9 addresses in a provider’s document', () => {
  test('S9 an issuer on an internal address is refused when a sign-in starts, and no request is sent', async () => {
    const { org, domain } = await connected(idctl, provider.issuer);
    for (const [what, url] of places()) {
      const moved = {
        org: org.slug,
        emailDomain: domain,
        issuer: url.replace(/\/$/, ''),
        enabled: true,
      };
      await saveSso(idctl.operator(), saveSsoInput.parse({ ...moved, ...registration }));
      expect(await idctl.client().get(`/auth/sso/start?domain=${domain}`), what).toMatchObject(
        unusable,
      );
      expect((await whyUnusable(domain)).message, what).toMatch(/not allowed|not encrypted/);
    }
    expect(touched).toBe(0);
  });

  test.each(['token_endpoint', 'userinfo_endpoint', 'jwks_uri'])(
    'S9 a %s on an internal address is refused at the callback, and no request is sent',
    async (endpoint) => {
      const { domain } = await connected(idctl, provider.issuer);
      for (const [what, url] of places()) {
        provider.answers.discovery = () => ({ body: { ...provider.document(), [endpoint]: url } });
        const { browser, callback, userinfo } = await returning(idctl, provider, { domain });
        expect(await comeBack(browser, callback), what).toMatchObject(unusable);
        expect((await whyUnusable(domain)).message, what).toMatch(/not allowed|not encrypted/);
        expect(await Account.count({ where: { email: userinfo.email } })).toBe(0);
      }
      expect(touched).toBe(0);
      Object.assign(provider.answers, honest);
    },
  );

  test.each(['discovery', 'token', 'userinfo', 'jwks'] as const)(
    'S9 a redirect from the %s endpoint is not followed, neither to an internal address nor to itself',
    async (endpoint) => {
      const paths = {
        discovery: '/.well-known/openid-configuration',
        token: '/token',
        userinfo: '/userinfo',
        jwks: '/jwks',
      };
      for (const location of [
        `https://127.0.0.2:${portOf(inside)}/`,
        `${provider.issuer}${paths[endpoint]}?again`,
      ]) {
        const liar = await startLyingProvider(registration.clientId, '');
        const { domain } = await connected(idctl, liar.issuer);
        const redirecting = () => ({ status: 302, headers: { location }, body: {} });
        if (endpoint === 'discovery') {
          liar.answers.discovery = redirecting;
          const answer = await idctl.client().get(`/auth/sso/start?domain=${domain}`);
          expect(answer).toMatchObject(unusable);
        } else {
          const { browser, callback } = await returning(idctl, liar, { domain });
          liar.answers[endpoint] = redirecting;
          const answer = await comeBack(browser, callback);
          expect(answer).toMatchObject(unusable);
        }
        expect(await whyUnusable(domain)).toMatchObject({ reason: 'redirected' });
        await liar.stop();
      }
      expect(touched).toBe(0);
    },
  );
});

test('S8 X5 if a provider is down, strangers read one fixed sentence, and one event tells the organization’s admins the stage and the reason', async () => {
  const liar = await startLyingProvider(registration.clientId, '');
  const { org, domain } = await connected(idctl, liar.issuer);
  await liar.stop();
  for (let at = 0; at < 3; at += 1) {
    const { status, body } = await idctl.client().get(`/auth/sso/start?domain=${domain}`);
    expect({ status, cookies: [], body }).toEqual(unusable);
  }
  const { items } = await listEvents(idctl.operator(), {
    org: org.slug,
    kind: 'sso.provider.failed',
    limit: 9,
  });
  const { host } = new URL(liar.issuer);
  expect(items).toMatchObject([
    {
      data: {
        stage: 'discovery',
        reason: 'connection_refused',
        count: 1,
        message: expect.stringContaining(host),
      },
    },
  ]);
});

describe('S9 answers of a provider', () => {
  test('S9 a body that arrives byte by byte times out after ten seconds, at every endpoint, and delays no other sign-in', async () => {
    const endpoints = ['discovery', 'token', 'userinfo', 'jwks'] as const;
    const liars = await Promise.all(
      endpoints.map(async (endpoint) => {
        const liar = await startLyingProvider(registration.clientId, '');
        const { domain } = await connected(idctl, liar.issuer);
        if (endpoint === 'discovery') {
          liar.answers.discovery = () => ({ body: dripping() });
          return {
            liar,
            domain,
            ask: () => idctl.client().get(`/auth/sso/start?domain=${domain}`),
          };
        }
        const { browser, callback } = await returning(idctl, liar, { domain });
        liar.answers[endpoint] = () => ({ body: dripping() });
        return { liar, domain, ask: () => comeBack(browser, callback) };
      }),
    );
    const { browser, callback } = await returning(idctl, provider);
    const begun = performance.now();
    let ended = 0;
    const hanging = liars.map(async ({ domain, ask }) => {
      const { status } = await ask();
      ended += 1;
      // The limit is ten seconds; a busy machine needs more.
      const soon = performance.now() - begun < 25_000;
      return [status, (await whyUnusable(domain)).reason, soon];
    });
    const other = comeBack(browser, callback).then(({ status }) => [status, ended]);
    expect(await Promise.all(hanging)).toEqual(endpoints.map(() => [502, 'timeout', true]));
    expect(await other).toEqual([200, 0]);
    await Promise.all(liars.map(({ liar }) => liar.stop()));
  });

  test('S9 endless bodies are refused before they fill the memory', async () => {
    const liars = await Promise.all(
      Array.from({ length: 10 }, () => startLyingProvider(registration.clientId, '')),
    );
    const comers = await Promise.all(liars.map((liar) => returning(idctl, liar)));
    const before = held();
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, held() - before);
    }, 5);
    for (const liar of liars) liar.answers.token = () => ({ body: endless() });
    const answers = await Promise.all(
      comers.map(({ browser, callback }) => comeBack(browser, callback)),
    );
    clearInterval(watch);
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(502));
    for (const { domain } of comers) {
      expect(await whyUnusable(domain)).toMatchObject({ reason: 'too_large' });
    }
    // About a megabyte of each body is read, and garbage is collected late. Without a limit, this
    // would be gigabytes.
    expect(most).toBeLessThan(400 * 1024 * 1024);
    await Promise.all(liars.map((liar) => liar.stop()));
  });
});

function held(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

async function* endless() {
  const block = fresh('x').repeat(1000);
  for (;;) yield block;
}

async function* dripping() {
  for (;;) {
    yield ' ';
    await new Promise((after) => setTimeout(after, 100));
  }
}
