import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Counter } from '../../src/database/models/counter.ts';
import { largeBody } from '../../src/http/body/thread.ts';
import type { Route } from '../../src/http/route.ts';
import { documentRoutes } from '../../src/http/routes/document.ts';
import { mappingRoutes } from '../../src/http/routes/mappings.ts';
import { ssoRoutes } from '../../src/http/routes/sso.ts';
import { pages, surface } from '../../src/http/surface.ts';
import { ruleOf } from '../../src/services/foundation/authority/table.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { type Company, foundCompany, pathOf } from '../support/company.ts';
import { type Client, sendBytes } from '../support/http.ts';
import { openIdctl } from '../support/idctl.ts';
import type { Person } from '../support/instance.ts';
import { open } from '../support/pages.ts';

let company: Company;
let scim: { token: string; path: string };
beforeAll(async () => {
  company = await foundCompany(await openIdctl({ orgs: { creation: 'anyone' } }));
  const { token, baseUrl } = await rotateScimToken(company.instance.operator(), { org: 'acme' });
  scim = { token, path: new URL(baseUrl).pathname };
}, 60_000);
afterAll(() => company.instance.close());

const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>) => `${method} ${path}`;
const takingBody = surface.routes.filter(({ method }) => /^(POST|PUT|PATCH)$/.test(method));
const json = takingBody.filter(
  ({ speaks, crossSiteForm }) => speaks === undefined && !crossSiteForm,
);
const forms = takingBody.filter(({ speaks }) => speaks === 'oauth');
const bearer = ({ accessToken }: Person) => `Authorization: Bearer ${accessToken}\r\n`;

interface Asked {
  method: string;
  path: string;
  bytes: number;
  headers?: string;
  type?: string;
}

/** Announces a body, sends its first byte, and returns the answer. */
function announce({ method, path, bytes, headers = '', type = 'application/json' }: Asked) {
  const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n`;
  return sendBytes(company.instance.baseUrl, `${head}${headers}Content-Length: ${bytes}\r\n\r\n{`);
}

const statusOf = (answer: string) => Number(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1]);

describe('X11 who asks, and whether they may, is decided before the body is read', () => {
  test.each(
    json.filter(({ access }) => access !== 'public').map((route) => [nameOf(route), route]),
  )('X11 %s refuses a stranger without reading the body', async (_name, route) => {
    if (route.access === 'public') throw new Error('the route needs a credential');
    const path = pathOf(route, company, company.owner);
    const asked = { method: route.method, path, bytes: 90_000 };
    const answer = await announce(asked);
    expect([statusOf(answer), /\r\nconnection: close\r\n/i.test(answer)]).toEqual([401, true]);
    const { least, orInProject } = ruleOf(route.access);
    if (least === 'user' || !route.path.includes(':org')) return;
    expect(statusOf(await announce({ ...asked, headers: bearer(company.stranger) }))).toBe(404);
    const isTooLow = least !== 'member' && orInProject === undefined;
    const low = { ...asked, headers: bearer(company.member) };
    if (isTooLow) expect(statusOf(await announce(low))).toBe(403);
  });

  test('X11 a token whose scope is too small is refused without reading the body', async () => {
    const { owner } = company;
    const made = await owner.post('/api/v1/me/tokens', { name: 'reader', scope: 'read' });
    const path = '/api/v1/orgs/acme/projects';
    const headers = `Authorization: Bearer ${made.body.token}\r\n`;
    const answer = await announce({ method: 'POST', path, bytes: 90_000, headers });
    expect([statusOf(answer), answer.includes('scope_required')]).toEqual([403, true]);
  });

  test('X11 a SCIM client is refused without reading the body', async () => {
    for (const path of ['/Users', '/Groups', '/.search', '/Users/.search', '/Nothing']) {
      const asked = { method: 'POST', path: scim.path + path, bytes: 200_000 };
      expect(statusOf(await announce(asked))).toBe(401);
      const headers = `Authorization: Bearer ${scim.token.slice(0, -1)}x\r\n`;
      expect(statusOf(await announce({ ...asked, headers }))).toBe(401);
    }
    const headers = `Authorization: Bearer ${scim.token}\r\n`;
    const asked = { method: 'POST', path: `${scim.path}/Nothing`, bytes: 200_000, headers };
    expect(statusOf(await announce(asked))).toBe(404);
    expect(statusOf(await announce({ ...asked, path: `${scim.path}/Users/x` }))).toBe(405);
  });

  test('X11 a form of the account page sends strangers to sign in without reading the body', async () => {
    const type = 'application/x-www-form-urlencoded';
    const asked = pages.filter(({ method, access }) => method === 'POST' && access === 'person');
    expect(asked.length).toBeGreaterThan(10);
    for (const { method, path } of asked)
      expect(statusOf(await announce({ method, path, bytes: 90_000, type }))).toBe(307);
  });

  test('X11 a wrong path key is refused before the body is read', async () => {
    const path = '/api/v1/orgs/acme/members/not-a-user';
    const headers = bearer(company.owner);
    const answer = await announce({ method: 'PATCH', path, bytes: 90_000, headers });
    expect([statusOf(answer), answer.includes('"path":"user"')]).toEqual([400, true]);
  });
});

/** Sends a body to a route as the owner, who may use it. */
const sendTo = (route: Route, body: string) =>
  company.owner.send(route.method, pathOf(route, company, company.owner), { body });

const values = (count: number) => `{"nonsense":[${'0,'.repeat(count - 3)}0]}`;

describe('X11 the body of a caller who may', () => {
  test('X11 every route refuses the size from the header, then the values, then the schema', async () => {
    for (const route of json) {
      const { bytes, values: most } = route.body;
      const path = pathOf(route, company, company.owner);
      const headers = bearer(company.owner);
      const large = await announce({ method: route.method, path, bytes: bytes + 1, headers });
      const isOpen = !large.includes('session_required');
      if (isOpen) expect([nameOf(route), statusOf(large)]).toEqual([nameOf(route), 413]);
      if (!isOpen) continue;
      const many = await sendTo(route, values(most + 1));
      expect([nameOf(route), many.status, many.body.detail]).toEqual([
        nameOf(route),
        400,
        `The body has more than ${most} JSON values.`,
      ]);
      // The number of values comes before the syntax.
      const broken = await sendTo(route, `${values(most + 1).slice(0, -1)}x`);
      expect(broken.body.detail).toBe(many.body.detail);
      const fitting = await sendTo(route, values(most));
      const named = fitting.body.errors?.map(({ path }: { path: string }) => path);
      expect([nameOf(route), named]).toEqual([nameOf(route), expect.arrayContaining(['nonsense'])]);
    }
  }, 120_000);

  test('S11 the limit on size is 512 KiB where a body has metadata', () => {
    const large = json.filter(({ body }) => body.bytes === 512 * 1024);
    expect(large.map(nameOf)).toEqual([
      'PUT /api/v1/orgs/:org/sso',
      'PATCH /api/v1/orgs/:org/sso',
      'POST /api/v1/orgs/:org/sso/test',
    ]);
  });

  test('X11 the limit on values is 2,000, for mappings 100,000 and for documents 400,000', () => {
    const limits = json.filter(({ body }) => body.values !== 2000 || body.bytes > 512 * 1024);
    expect(limits.map((route) => [nameOf(route), route.body.values])).toEqual([
      ['POST /api/v1/orgs/:org/group-mappings/import', 100_000],
      ['POST /api/v1/orgs/:org/plan', 400_000],
      ['POST /api/v1/orgs/:org/apply', 400_000],
    ]);
  });

  test('X11 an object has at most 100 keys, except in a document', async () => {
    const keys = (count: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 0])));
    const answer = async (path: string, body: string) =>
      (await company.owner.send('POST', `/api/v1/orgs/acme/${path}`, { body })).body;
    const tooMany = { detail: 'An object in the body has more than 100 keys.' };
    expect(await answer('projects', keys(101))).toMatchObject(tooMany);
    expect(await answer('projects', `{"name":${keys(101)}}`)).toMatchObject(tooMany);
    expect(await answer('group-mappings/import', `{"mappings":[${keys(101)}]}`)).toMatchObject(
      tooMany,
    );
    expect(await answer('projects', keys(100))).toMatchObject({ errors: expect.anything() });
    const plan = await answer('plan', `{"document":{"idctl":1,"signin":${keys(300)}}}`);
    expect([plan.errors.length, plan.moreErrors]).toEqual([20, 280]);
  });

  test('X11 SCIM takes 100,000 values, and refuses one more in its own words', async () => {
    const send = async (count: number) => {
      const members = '{"value":"0"},'.repeat((count - 3) / 2);
      return company.instance.client().send('POST', `${scim.path}/Groups`, {
        body: `{"displayName":"g","members":[${members.slice(0, -1)}]}`,
        headers: { authorization: `Bearer ${scim.token}` },
      });
    };
    const { status, body } = await send(100_001);
    expect([status, body.scimType, body.detail]).toEqual([
      400,
      'invalidValue',
      'The body has more than 100000 JSON values.',
    ]);
    expect((await send(99_999)).body.detail).toContain('has no User 0');
  });
});

/** Bodies that produced long answers, or took long. */
const hostile = (bytes: number) => {
  const keys = Array.from({ length: 95 }, (_, at) => `${'&"'.repeat(bytes / 600)}${at}`);
  return [
    JSON.stringify(Object.fromEntries(keys.map((key) => [key, 1]))),
    JSON.stringify({ ['"'.repeat(bytes / 3)]: 1 }),
    JSON.stringify({ [`${'\u0001'.repeat(bytes / 13)}`]: 1 }),
  ];
};

const bytesOf = ({ body }: { body: unknown }) =>
  Buffer.byteLength(typeof body === 'string' ? body : JSON.stringify(body));

describe('X11 a refusal is at most 16 KiB long', () => {
  test('X11 in a problem object, at every route', async () => {
    for (const route of json)
      for (const body of hostile(90_000)) {
        const answer = await sendTo(route, body);
        expect([nameOf(route), answer.status < 500]).toEqual([nameOf(route), true]);
        expect([nameOf(route), bytesOf(answer) <= 16 * 1024]).toEqual([nameOf(route), true]);
        expect(answer.body.errors?.length ?? 0).toBeLessThanOrEqual(20);
      }
  }, 120_000);

  test('X11 in an OAuth error', async () => {
    const client: Client = company.instance.client();
    for (const { path } of [...forms, { path: '/oauth/userinfo' }]) {
      for (const field of ['grant_type', 'token', 'client_id', 'code']) {
        const twice = `${'%22'.repeat(9000)}`;
        for (const form of [`${field}=${twice}`, `${field}=a&${field}=b&${twice}=1&${twice}=2`]) {
          const answer = await client.form(path, form);
          expect(answer.status).toBeGreaterThanOrEqual(400);
          expect([path, bytesOf(answer) <= 16 * 1024]).toEqual([path, true]);
        }
      }
    }
  });

  test('X11 in a SCIM error', async () => {
    const headers = { authorization: `Bearer ${scim.token}` };
    const text = '"\u0001'.repeat(30_000);
    const operations = [{ op: 'add', path: text, value: 'x' }];
    for (const [method, path, body] of [
      ['POST', '/Users', { userName: text }],
      ['POST', '/Groups', { displayName: text }],
      ['POST', '/Groups', { displayName: 'g', members: [{ value: text }] }],
      ['POST', '/.search', { filter: text }],
      ['POST', '/Users/.search', { sortBy: text }],
      ['PATCH', `/Groups/${company.group}`, { Operations: operations }],
      ['PATCH', `/Groups/${company.group}`, { Operations: [{ op: text }] }],
    ] as const) {
      const client = company.instance.client();
      const answer = await client.send(method, scim.path + path, { body, headers });
      expect([path, answer.status, bytesOf(answer) <= 16 * 1024]).toEqual([path, 400, true]);
    }
  });

  test('X11 on every page that is open to strangers', async () => {
    const client = company.instance.client({ keepCookies: true });
    const shown = await open(client, '/login?identifier=ada%40acme.test');
    const token = /name="token" value="([^"]+)"/.exec(shown.body)?.[1] ?? '';
    const unknown = Array.from({ length: 90 }, (_, at) => [`${'"'.repeat(300)}${at}`, 'x']);
    const fields = { token, ...Object.fromEntries(unknown) };
    const asked = pages.filter(({ method, access }) => method === 'POST' && access === 'public');
    expect(asked.length).toBeGreaterThan(5);
    for (const { path } of asked) {
      const answer = await client.form(path, fields, { accept: 'text/html' });
      // Some forms lack the cookie of an earlier step, and send the browser back to it.
      expect([path, answer.body.includes('not opened in this browser')]).toEqual([path, false]);
      expect([path, bytesOf(answer) <= 16 * 1024]).toEqual([path, true]);
    }
  });
});

describe('X11 a client sees a refusal before the end of its body', () => {
  const big = 8 * 1024 * 1024;
  const path = '/api/v1/orgs/nothing/plan';

  test('X11 curl', async () => {
    const run = promisify(execFile);
    for (const expected of ['Expect: 100-continue', 'Expect:']) {
      const ran = run('curl', [
        ...['-s', '-S', '-i', '-H', 'content-type: application/json', '-H', expected],
        ...['-H', bearer(company.stranger).trim(), '--data-binary', '@-'],
        company.instance.baseUrl + path,
      ]);
      ran.child.stdin?.on('error', () => undefined);
      ran.child.stdin?.end('{}'.repeat(big / 2));
      const { stdout } = await ran;
      expect(stdout).toMatch(/^HTTP\/1.1 404 .*"code":"not_found"/s);
      expect(stdout).toMatch(/^connection: close\r$/im);
    }
  });

  test('X11 undici', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const answer = await company.stranger.send('POST', path, { body: '{}'.repeat(big / 2) });
      expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
    }
  });

  test('X11 the daemon asks for a body only after it knows who asks', async () => {
    const asked = { method: 'POST', path: '/api/v1/orgs/acme/plan', bytes: 1000 };
    const refused = await announce({ ...asked, headers: 'Expect: 100-continue\r\n' });
    expect(statusOf(refused)).toBe(401);
    const body = '{"document":{"idctl":1}}';
    const { port } = new URL(company.instance.baseUrl);
    const socket = connect(Number(port), '127.0.0.1');
    const head = `POST ${asked.path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    const rest = `${bearer(company.owner)}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.write(`${head}Expect: 100-continue\r\n${rest}`);
    const [first] = await once(socket, 'data');
    expect(String(first)).toMatch(/^HTTP\/1.1 100 /);
    socket.write(body);
    const [answer] = await once(socket, 'data');
    expect(statusOf(String(answer))).toBe(200);
    socket.destroy();
  });

  test('X11 a client that goes on sending is cut off, and at most 1 MiB is read', async () => {
    const { port } = new URL(company.instance.baseUrl);
    const sent = await new Promise<number>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1');
      const part = Buffer.alloc(64 * 1024, 0x20);
      const more = () => {
        while (socket.writable && socket.write(part));
      };
      socket.on('drain', more).on('error', () => undefined);
      socket.once('close', () => resolve(socket.bytesWritten));
      socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000\r\n\r\n`);
      more();
    });
    // The buffers of both ends hold some more.
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  test('X11 a request behind a refused body is not answered', async () => {
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n`;
    const next = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
    const answer = await sendBytes(
      company.instance.baseUrl,
      `${head}${' '.repeat(300_000)}${next}`,
    );
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 401']);
  });
});

describe('X11 a request whose client has gone', () => {
  test('X11 a counted try stays counted', async () => {
    const { port } = new URL(company.instance.baseUrl);
    const body = '{"email":"gone@acme.test","password":"wrong-password-of-gone"}';
    const head = `POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    const socket = connect(Number(port), '127.0.0.1');
    const used = () => Counter.sum('used');
    const before = await used();
    socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
    await expect.poll(used).toBeGreaterThan(before);
    socket.destroy();
    const counted = await used();
    await company.instance.client().get('/api/v1/auth/methods?email=gone%40acme.test');
    // The event of the refusal counts too, in its own time.
    expect(await used()).toBeGreaterThanOrEqual(counted);
  });
});

describe('X11 a large body is parsed and checked in a thread', () => {
  test('X11 the thread knows every route that takes a large body', () => {
    const known = [...documentRoutes, ...mappingRoutes, ...ssoRoutes].map(nameOf);
    const large = json.filter(({ body }) => body.bytes > largeBody).map(nameOf);
    expect(large).toHaveLength(6);
    expect(known).toEqual(expect.arrayContaining(large));
  });

  test('X11 a large document is planned, and a wrong one gets the same refusal as a small one', async () => {
    const filler = ' '.repeat(largeBody);
    const plan = (document: object, padding = '') =>
      company.owner.send('POST', '/api/v1/orgs/acme/plan', {
        body: `${padding}${JSON.stringify({ document: { idctl: 1, ...document } })}`,
      });
    const domains = [{ domain: 'https://Large.Test/' }];
    const small = await plan({ domains });
    expect([small.status, small.body.changes.length]).toEqual([200, 1]);
    expect((await plan({ domains }, filler)).body).toEqual(small.body);
    const members = Array(5000).fill({});
    const refused = await plan({ members });
    const { requestId: _, ...same } = (await plan({ members }, filler)).body;
    expect(refused.body).toMatchObject(same);
    expect(same).toMatchObject({ code: 'invalid_input', moreErrors: 80 });
    expect((await plan({}, `${filler}x`)).body.code).toBe('invalid_json');
    const org = await company.owner.send('POST', '/api/v1/orgs/acme/plan', {
      body: `${filler}{"org":"rival","document":{"idctl":1}}`,
    });
    expect(org.body.errors).toEqual([{ path: 'org', message: 'is not a known field' }]);
  }, 60_000);
});
