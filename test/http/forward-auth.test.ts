import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseSetCookie, stringifyCookie } from 'cookie';
import { Agent, request, WebSocket } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../src/services/tenancy/clients/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { organization, person, signedIn } from '../support/builders.ts';
import { createAuthority } from '../support/certificates.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { startNginx } from '../support/nginx.ts';
import { freePorts } from '../support/ports.ts';
import { nginxBlocks, type Proxied, startCaddy, startEcho } from '../support/proxies.ts';

// Runs the examples in config/ for nginx and Caddy, in front of an application. The example for
// Traefik is not run, because Debian has no package of it.

interface Stop {
  stop(): Promise<void>;
}

let idctl: Idctl;
let folder: string;
let ca: string;
let authority: Awaited<ReturnType<typeof createAuthority>>;
let application: Stop & { url: string };

beforeAll(async () => {
  idctl = await openIdctl();
  folder = await mkdtemp(join(tmpdir(), 'idctl-proxies-'));
  authority = await createAuthority(folder);
  ca = await readFile(authority.caFile, 'utf8');
  application = await startEcho();
});
afterAll(async () => {
  await application.stop();
  await idctl.close();
  await rm(folder, { recursive: true, force: true });
});

/** A browser for one host on this machine. It keeps the host's cookies. */
function browserOf({ host, port }: { host: string; port: number }) {
  // Browsers send names below localhost to this machine, which may not resolve them.
  const lookup: LookupFunction = (_name, { all }, done) =>
    all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4);
  const connect = { ca, servername: host, lookup };
  // Browsers open a WebSocket by HTTP/1.1, unless the server offers one by HTTP/2.
  const dispatcher = new Agent({ connect, allowH2: false });
  const jar = new Map<string, string>();
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const kept = stringifyCookie(Object.fromEntries(jar));
    const cookie = [headers['cookie'], kept].filter(Boolean).join('; ');
    const answer = await request(`https://127.0.0.1:${port}${path}`, {
      dispatcher,
      headers: { host: `${host}:${port}`, ...headers, ...(cookie === '' ? {} : { cookie }) },
    });
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const { name, value } = parseSetCookie(line);
      jar.set(name, value ?? '');
    }
    const body = await answer.body.text();
    const location = URL.parse(String(answer.headers['location']));
    return {
      status: answer.statusCode,
      body,
      origin: location?.origin,
      path: `${location?.pathname}${location?.search}`,
    };
  };
  /** Opens a WebSocket, sends a text and returns the first two messages; null if it is refused. */
  const talk = async (text: string) => {
    const cookie = stringifyCookie(Object.fromEntries(jar));
    const headers = cookie === '' ? {} : { cookie };
    const socket = new WebSocket(`wss://${host}:${port}/live`, { dispatcher, headers });
    const messages: string[] = [];
    return new Promise<string[] | null>((resolve) => {
      socket.addEventListener('open', () => socket.send(text));
      socket.addEventListener('error', () => resolve(null));
      socket.addEventListener('message', ({ data }) => {
        if (messages.push(String(data)) < 2) return;
        socket.close();
        resolve(messages);
      });
    });
  };
  return { get, talk, jar, close: () => dispatcher.close() };
}

const proxies: [string, 'nginx' | 'caddy', (given: Proxied) => Promise<Stop>][] = [
  ['nginx', 'nginx', (given) => startNginx(nginxBlocks(given), given.port)],
  ['Caddy', 'caddy', startCaddy],
];

describe.each(proxies)(
  'an application behind %s, configured as in config/',
  (name, needs, start) => {
    const missing = counterpartMissing(needs);
    const host = `${name.toLowerCase()}.localhost`;
    let port: number;
    let origin: string;
    let proxy: Stop | undefined;
    let ada: { id: string; email: string | null };
    let session: Client;
    let stranger: Client;

    beforeAll(async () => {
      if (missing) return;
      [port = 0] = await freePorts(1);
      origin = `https://${host}:${port}`;
      const { certFile, keyFile } = await authority.issue(`DNS:${host}`);
      const to = { idctl: idctl.baseUrl, application: application.url };
      proxy = await start({ host, port, certFile, keyFile, ...to });
      const { slug: org } = await organization(idctl);
      const input = { org, name, forwardAuthOrigins: [origin, `https://else.${host}:${port}`] };
      await createClient(idctl.operator(), createClient.input.parse(input));
      ada = await person(idctl);
      await addMember(idctl.operator(), { org, email: ada.email ?? '', role: 'member' });
      session = await signedIn(idctl, ada.email);
      stranger = await signedIn(idctl, (await person(idctl)).email);
    });
    afterAll(() => proxy?.stop());

    /** Goes from the application to idctl and back, with the session of `as`. */
    async function enter(browser: ReturnType<typeof browserOf>, as: Client, path: string) {
      const refused = await browser.get(path);
      expect([refused.status, refused.origin]).toEqual([302, origin]);
      const away = await browser.get(refused.path);
      expect([away.status, away.origin]).toEqual([302, idctl.baseUrl]);
      const back = await as.get(away.path, { accept: 'text/html' });
      if (back.status !== 303) return back;
      return browser.get(String(back.headers['location']).slice(origin.length));
    }

    const spoofed = {
      'x-idctl-user': 'root',
      'x-idctl-email': 'root@evil.test',
      'x-idctl-name': 'Root',
      'x-idctl-groups': 'owner',
      // CGI, WSGI and PHP read these like the names above.
      X_Idctl_User: 'root',
      X_Idctl_Groups: 'owner',
      'X-Idctl_User': 'root',
      'X_Idctl-User': 'root',
    };

    test.skipIf(missing)(
      'O11 a member gets in, and the identity headers come from idctl alone',
      async () => {
        const browser = browserOf({ host, port });
        const landed = await enter(browser, session, '/wiki?page=1');
        expect(landed).toMatchObject({ status: 302, origin, path: '/wiki?page=1' });
        const cookies = 'idctl=sibling; access_token=own; theme=dark; idctl-flow=sibling';
        const shown = await browser.get('/wiki?page=1', { ...spoofed, cookie: cookies });
        expect(shown.status).toBe(200);
        const { url, headers } = JSON.parse(shown.body);
        expect([url, headers]).toMatchObject([
          '/wiki?page=1',
          {
            'x-idctl-user': ada.id,
            'x-idctl-email': ada.email,
            'x-idctl-name': 'Ada Byron',
            'x-idctl-groups': 'member',
          },
        ]);
        expect(headers.cookie).toContain('theme=dark');
        expect(headers.cookie).toContain('access_token=own');
        expect(headers.cookie).not.toMatch(/sibling|idctl/);
        expect(Object.keys(headers).filter((header) => /^x_idctl|^x-idctl_/.test(header))).toEqual(
          [],
        );
        await browser.close();
      },
    );

    test.skipIf(missing)(
      'without cookies of its own, the application gets no Cookie header, and others stay as sent',
      async () => {
        const browser = browserOf({ host, port });
        await enter(browser, session, '/');
        const cookieOf = async (cookie?: string) => {
          const { body } = await browser.get('/', cookie === undefined ? {} : { cookie });
          return JSON.parse(body).headers.cookie;
        };
        expect(await cookieOf()).toBeUndefined();
        expect(await cookieOf('idctl=sibling')).toBeUndefined();
        expect(await cookieOf('theme=dark')).toBe('theme=dark');
        expect(await cookieOf('idctl=sibling; theme=dark; idctl-flow=x; a=b')).toBe(
          'theme=dark; a=b',
        );
        await browser.close();
      },
    );

    test.skipIf(missing)(
      'O11 a WebSocket reaches the application with the person’s identity, and only after a sign-in',
      async () => {
        const browser = browserOf({ host, port });
        expect(await browser.talk('hello')).toBeNull();
        await enter(browser, session, '/');
        const [first = '', second] = (await browser.talk('hello')) ?? [];
        expect(JSON.parse(first)).toMatchObject({ 'x-idctl-email': ada.email });
        expect(second).toBe('hello');
        await browser.close();
      },
    );

    test.skipIf(missing)('O11 no header that the client sends gives access', async () => {
      const browser = browserOf({ host, port });
      const to = { 'x-forwarded-host': `else.${host}:${port}`, 'x-forwarded-proto': 'http' };
      const answer = await browser.get('/', { ...spoofed, ...to });
      expect([answer.status, answer.origin]).toEqual([302, origin]);
      const away = await browser.get(answer.path, to);
      expect(new URLSearchParams(away.path.split('?')[1]).get('origin')).toBe(origin);
      await browser.close();
    });

    test.skipIf(missing)('O11 a person who is not a member does not get in', async () => {
      const browser = browserOf({ host, port });
      expect(await enter(browser, stranger, '/')).toMatchObject({ status: 403 });
      expect((await browser.get('/')).status).toBe(302);
      await browser.close();
    });

    test.skipIf(missing)(
      'O11 a person who signs out of idctl is signed out of the application',
      async () => {
        const browser = browserOf({ host, port });
        const own = await signedIn(idctl, ada.email);
        await enter(browser, own, '/');
        expect((await browser.get('/')).status).toBe(200);
        await own.post('/api/v1/auth/logout', {}, { origin: idctl.baseUrl });
        expect((await browser.get('/')).status).toBe(302);
        await browser.close();
      },
    );
  },
);
