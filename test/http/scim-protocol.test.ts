import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { select } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { Refusal } from '../../src/errors.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { fresh, signedIn } from '../support/builders.ts';
import { sendBytes } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { clientOf, filtered, type ScimClient, scimClient } from '../support/scim-client.ts';

let idctl: Idctl;
let client: ScimClient;
beforeAll(async () => {
  idctl = await openIdctl();
  client = await scimClient(idctl);
});
afterAll(() => idctl.close());

const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error';
const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const address = () => `${fresh('ada')}@elsewhere.test`;

describe('authentication', () => {
  test('§5.4 every credential but the token of this organization gets 401, and the message says whether a token was missing or wrong', async () => {
    const other = await scimClient(idctl);
    const session = await signedIn(idctl, client.org.owner.email);
    const pat = await createToken(idctl.operator(), { user: client.org.owner.id, name: 'ci' });
    const credentials: Record<string, string>[] = [
      {},
      { authorization: '' },
      { authorization: 'Bearer' },
      { authorization: `Bearer ${client.token}x` },
      { authorization: `Bearer ${other.token}` },
      { authorization: `Bearer ${session.accessToken}` },
      { authorization: `Bearer ${pat.token}` },
      { authorization: `Basic ${Buffer.from(`x:${client.token}`).toString('base64')}` },
      { 'x-api-key': client.token },
      { cookie: `access_token=${client.token}` },
    ];
    const bases = [
      client.base,
      `/scim/v2/orgs/${crypto.randomUUID()}`,
      '/scim/v2/orgs/acme',
      '/scim/v2',
    ];
    const answers = [];
    for (const base of bases) {
      for (const headers of credentials)
        answers.push(await idctl.client().get(`${base}/Users`, headers));
    }
    for (const path of ['/scim/v2/orgs', '/SCIM', '/scim/v2/orgs/%zz/Users']) {
      answers.push(await client.get(path.replace(client.base, '')));
      answers.push(await idctl.client().get(path, { authorization: `Bearer ${client.token}` }));
    }
    const told = answers.filter(({ status }) => status === 401);
    expect(told.length).toBe(answers.length - 3);
    // Without a Bearer token, the answer says so and has no error code (RFC 6750 §3.1).
    const [unsent, wrong] = [told[0], told[3]];
    expect(unsent?.body.detail).toBe('No token was sent.');
    expect(wrong?.body.detail).toBe('The Bearer token is not the SCIM token of this organization.');
    const without = told.filter(({ body }) => body.detail === unsent?.body.detail);
    expect(without.length).toBe(2 * bases.length);
    for (const answer of told) {
      const { body, headers } = answer;
      const [like, error] = without.includes(answer)
        ? [unsent, '']
        : [wrong, ', error="invalid_token"'];
      expect(body).toEqual({ schemas: [errorSchema], status: '401', detail: expect.any(String) });
      expect(body).toEqual(like?.body);
      expect(headers['content-type']).toBe('application/scim+json');
      expect(headers['www-authenticate']).toBe(`Bearer realm="idctl"${error}`);
    }
  });

  test('discovery needs the token too', async () => {
    for (const path of [
      '/ServiceProviderConfig',
      '/ResourceTypes',
      '/Schemas',
      '/Me',
      '/Bulk',
      '/Nothing',
    ]) {
      expect((await idctl.client().get(client.base + path)).status).toBe(401);
    }
  });

  test("O7 one organization's token reaches nothing of another, on every route", async () => {
    const other = await scimClient(idctl);
    const made = await other.create({ userName: address() });
    const thief = clientOf(idctl, other.org, client.token);
    const body = {
      userName: address(),
      active: false,
      Operations: [{ op: 'remove', path: 'title' }],
    };
    for (const path of [
      '/Users',
      `/Users/${made.id}`,
      '/Users/.search',
      '/.search',
      '/Schemas',
      '/Bulk',
      '/',
    ]) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const answer = await thief.send(method, path, method === 'GET' ? undefined : body);
        expect([method, path, answer.status]).toEqual([method, path, 401]);
      }
    }
    expect((await client.get(`/Users/${made.id}`)).status).toBe(404);
    expect((await client.send('DELETE', `/Users/${made.id}`)).status).toBe(404);
    expect((await client.get(filtered(`id eq "${made.id}"`))).body.totalResults).toBe(0);
    expect((await other.get(`/Users/${made.id}`)).body).toEqual(made);
  });
});

describe('RFC 7644 §3.1 media types and bodies', () => {
  test.each([
    'application/scim+json',
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/SCIM+JSON;charset=UTF-8',
  ])('the media type %s is accepted', async (type) => {
    const answer = await client.send(
      'POST',
      '/Users',
      { userName: address() },
      { 'content-type': type },
    );
    expect(answer.status).toBe(201);
    expect(answer.headers['content-type']).toBe('application/scim+json');
  });

  test.each([
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    '',
  ])('the media type %j gets 415', async (type) => {
    const answer = await client.send('POST', '/Users', '{"userName":"x"}', {
      'content-type': type,
    });
    expect(answer).toMatchObject({ status: 415, body: { schemas: [errorSchema], status: '415' } });
    expect(answer.headers['content-type']).toBe('application/scim+json');
  });

  test.each(['{', '', '"x"', 'nul', '{"a":1}}'])(
    'the body %j gets 400 invalidSyntax',
    async (body) => {
      const answer = await client.send('POST', '/Users', body);
      expect(answer).toMatchObject({
        status: 400,
        body: { scimType: 'invalidSyntax', status: '400' },
      });
    },
  );

  test('a body over 256 KiB gets 413, and a body of 200 KiB is accepted', async () => {
    const large = (size: number) => ({ userName: address(), nickName: 'x'.repeat(size) });
    const refused = await client.send('POST', '/Users', large(256 * 1024));
    expect(refused).toMatchObject({ status: 413, body: { schemas: [errorSchema], status: '413' } });
    expect((await client.send('POST', '/Users', large(200 * 1024))).status).toBe(201);
  });

  test('deep nesting, and text that a database cannot store, get 400', async () => {
    const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
    expect(await client.send('POST', '/Users', deep)).toMatchObject({
      status: 400,
      body: { status: '400' },
    });
    for (const userName of ['a\0b', '\ud800']) {
      const answer = await client.send('POST', '/Users', JSON.stringify({ userName }));
      expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    }
    for (const filter of [
      'userName eq "a\0"',
      String.raw`userName eq "\u0000"`,
      String.raw`title eq "\ud800"`,
    ]) {
      expect((await client.get(filtered(filter))).status).toBe(400);
    }
  });

  test('keys that name prototypes reach no prototype', async () => {
    const body =
      '{"userName":"proto","__proto__":{"x":1},"constructor":{"prototype":{"x":1}},"name":{"__proto__":{"x":1}}}';
    expect((await client.send('POST', '/Users', body)).status).toBe(201);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });
});

describe('paths and methods', () => {
  test('paths and parameters match in any letter case, with or without a slash at the end', async () => {
    const { id, userName } = await client.create({ userName: address() });
    const base = client.base.toUpperCase();
    const headers = { authorization: `bearer ${client.token}` };
    for (const path of [`/users/${id}`, `/USERS/${id.toUpperCase()}`, `/Users/${id}/`]) {
      expect((await client.get(path)).body.id).toBe(id);
      expect((await idctl.client().get(base + path, headers)).body.id).toBe(id);
    }
    const asked = await client.get(
      `/users/?FILTER=${encodeURIComponent(`USERNAME EQ "${userName}"`)}&STARTINDEX=1&Unknown=x`,
    );
    expect(asked.body.Resources).toMatchObject([{ id }]);
  });

  test.each([
    ['GET', '/Groups/unknown', 404],
    ['POST', '/Groups', 400],
    ['GET', '/Groups/x', 404],
    ['GET', '/', 404],
    ['GET', '/Nothing', 404],
    ['GET', '/Users/x/y', 404],
    ['GET', '/Users/none', 404],
    ['GET', '/__proto__', 404],
    ['GET', '/constructor', 404],
    ['GET', '/Schemas/urn:none', 404],
    ['GET', '/ResourceTypes/Device', 404],
    ['GET', '/Me', 501],
    ['PATCH', '/Me', 501],
    ['POST', '/Bulk', 501],
    ['GET', '/Schemas?filter=id%20eq%20%22x%22', 403],
  ])('%s %s gets %i as a SCIM error', async (method, path, status) => {
    const answer = await client.send(method, path, method === 'GET' ? undefined : {});
    expect(answer).toMatchObject({ status, body: { schemas: [errorSchema], status: `${status}` } });
    expect(answer.headers['content-type']).toBe('application/scim+json');
  });

  test.each([
    ['PUT', '/Users', 'HEAD, GET, POST'],
    ['DELETE', '/Users', 'HEAD, GET, POST'],
    ['POST', '/Users/some', 'HEAD, GET, PUT, PATCH, DELETE'],
    ['GET', '/.search', 'POST'],
    ['GET', '/Users/.search', 'POST'],
    ['POST', '/Schemas', 'HEAD, GET'],
    ['PUT', '/ServiceProviderConfig', 'HEAD, GET'],
    ['DELETE', '/ResourceTypes/User', 'HEAD, GET'],
    ['OPTIONS', '/Users', 'HEAD, GET, POST'],
  ])('%s %s gets 405, and Allow names the allowed methods', async (method, path, allow) => {
    const answer = await client.send(method, path);
    expect(answer).toMatchObject({ status: 405, body: { schemas: [errorSchema], status: '405' } });
    expect(answer.headers['allow']).toBe(allow);
  });

  test('HEAD answers like GET without a body', async () => {
    expect(await client.send('HEAD', '/Users')).toMatchObject({ status: 200, body: '' });
  });

  test('an undecodable or long path gets 404, and a path over the header limit 431', async () => {
    const raw = (path: string) =>
      sendBytes(
        idctl.baseUrl,
        `GET ${client.base}${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.token}\r\nConnection: close\r\n\r\n`,
      );
    expect(await raw(`/Users/${'x'.repeat(20_000)}`)).toMatch(/^HTTP\/1\.1 431 /);
    expect(await raw(`/Users/${'x'.repeat(8_000)}`)).toMatch(/^HTTP\/1\.1 404 /);
    const undecodable = await raw('/Users/%E0%A4%A');
    expect(undecodable).toContain('HTTP/1.1 404');
    expect(undecodable).toContain('Content-Type: application/scim+json\r\n');
  });

  test('a bug and an unreachable database are answered as SCIM errors, without the cause', async () => {
    const rename = (from: string, to: string) =>
      transaction(() => select(`ALTER TABLE ${from} RENAME TO ${to}`, []));
    await rename('scim_shifts', 'scim_shifts_away');
    const bug = await client.get('/Users');
    const gone = new Refusal('database_unreachable', 'It is gone.', { retryAfter: 5 });
    const refusalOf = vi.spyOn(idctl.app, 'refusalOf').mockReturnValue(gone);
    const unreachable = await client.get('/Users');
    refusalOf.mockRestore();
    await rename('scim_shifts_away', 'scim_shifts');
    expect(bug).toMatchObject({ status: 500, body: { schemas: [errorSchema], status: '500' } });
    expect(bug.body.detail).not.toContain('scim_shifts');
    expect(unreachable).toMatchObject({
      status: 503,
      body: { schemas: [errorSchema], status: '503' },
    });
    expect(unreachable.headers['retry-after']).toBe('5');
    for (const { headers } of [bug, unreachable]) {
      expect(headers['content-type']).toBe('application/scim+json');
    }
    expect((await client.get('/Users')).status).toBe(200);
  });

  test('Entra may send more than 25 requests a second without a User-Agent: none gets 429', async () => {
    const head = `GET ${client.base}/Users?count=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.token}\r\nConnection: close\r\n\r\n`;
    const asked = Array.from({ length: 60 }, () => sendBytes(idctl.baseUrl, head));
    for (const answer of await Promise.all(asked)) expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('RFC 7644 §3.14 versions', () => {
  test('ETag is meta.version; a known If-None-Match gets 304; an If-Match of another version gets 412 and changes nothing', async () => {
    const made = await client.create({ userName: address() });
    const path = `/Users/${made.id}`;
    const shown = await client.get(path);
    expect(shown.headers['etag']).toBe(made.meta.version);
    const same = await client.get(path, { 'if-none-match': made.meta.version });
    expect(same).toMatchObject({ status: 304, body: '', headers: { etag: made.meta.version } });
    const stale = { 'if-match': 'W/"99"' };
    const off = { Operations: [{ op: 'replace', path: 'active', value: false }] };
    for (const [method, body] of [
      ['PATCH', off],
      ['PUT', { active: false }],
      ['DELETE', undefined],
    ] as const) {
      const refused = await client.send(method, path, body, stale);
      expect(refused).toMatchObject({
        status: 412,
        body: { schemas: [errorSchema], status: '412' },
      });
    }
    expect((await client.get(path)).body).toEqual(made);
    for (const ifMatch of [made.meta.version, '*', `"0", ${made.meta.version}`]) {
      const none = await client.send('PATCH', path, { Operations: [] }, { 'if-match': ifMatch });
      expect(none.status).toBe(200);
    }
    const changed = await client.send('PATCH', path, off, { 'if-match': made.meta.version });
    expect(changed.headers['etag']).toBe('W/"2"');
    expect((await client.get(path, { 'if-none-match': made.meta.version })).status).toBe(200);
  });
});

test('RFC 7643 §3.1 every answer with a User has its absolute URL in meta.location and in the headers', async () => {
  const userName = address();
  const made = await client.send('POST', '/Users', { userName });
  const location = `${idctl.baseUrl}${client.base}/Users/${made.body.id}`;
  const path = `/users/${made.body.id}/`;
  const answers = [
    made,
    await client.get(path),
    await client.send('PUT', path, { userName, title: 'x' }),
    await client.patch(made.body.id, { op: 'remove', path: 'title' }),
  ];
  for (const { body, headers } of answers) {
    expect(body.meta.location).toBe(location);
    expect(headers).toMatchObject({
      location,
      'content-location': location,
      etag: body.meta.version,
    });
  }
});

describe('RFC 7644 §3.4.2 lists', () => {
  let many: ScimClient;
  beforeAll(async () => {
    many = await scimClient(idctl);
    for (let n = 0; n < 5; n += 1) {
      await many.create({
        userName: `user${n}@elsewhere.test`,
        title: `t${4 - n}`,
        displayName: `Name ${n}`,
        externalId: `x${n}`,
        name: { givenName: 'Five', familyName: `F${n}` },
        emails: [{ value: `mail${n}@elsewhere.test`, type: 'work' }],
        active: n < 4,
        'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: `D${n % 2}` },
      });
    }
  });

  const names = (body: { Resources: { userName: string }[] }) =>
    body.Resources.map((one) => one.userName.split('@')[0]);

  test('the whole list includes the owner and has a stable order', async () => {
    const { body } = await many.get('/Users');
    expect(body).toMatchObject({
      schemas: [listSchema],
      totalResults: 6,
      startIndex: 1,
      itemsPerPage: 6,
    });
    expect(names(body).slice(1)).toEqual(['user0', 'user1', 'user2', 'user3', 'user4']);
  });

  test.each([
    ['startIndex=2&count=2', 2, ['user0', 'user1']],
    ['startIndex=0&count=1', 1, expect.anything()],
    ['startIndex=-5&count=1', 1, expect.anything()],
    ['startIndex=6', 6, ['user4']],
    ['startIndex=7', 7, []],
    ['startIndex=999999999999', 2_147_483_647, []],
    ['count=0', 1, []],
    ['count=-1', 1, []],
  ])('the query %s returns its page of the list', async (query, startIndex, shown) => {
    const { status, body } = await many.get(`/Users?${query}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      totalResults: 6,
      startIndex,
      itemsPerPage: body.Resources.length,
    });
    expect(names(body)).toEqual(shown);
  });

  test.each(['startIndex=x', 'count=1.5', 'count=%20'])(
    'the query %s gets 400 invalidValue',
    async (query) => {
      expect(await many.get(`/Users?${query}`)).toMatchObject({
        status: 400,
        body: { scimType: 'invalidValue' },
      });
    },
  );

  test('filtered lists page like the whole list', async () => {
    const filter = encodeURIComponent('userName sw "user"');
    const { body } = await many.get(`/Users?filter=${filter}&startIndex=2&count=2`);
    expect(body).toMatchObject({ totalResults: 5, startIndex: 2, itemsPerPage: 2 });
    expect(names(body)).toEqual(['user1', 'user2']);
    const past = await many.get(`/Users?filter=${filter}&startIndex=9`);
    expect(past.body).toMatchObject({ totalResults: 5, itemsPerPage: 0, Resources: [] });
    const none = await many.get(`/Users?filter=${filter}&count=0`);
    expect(none.body).toMatchObject({ totalResults: 5, itemsPerPage: 0, Resources: [] });
  });

  test.each([
    ['userName eq "USER1@elsewhere.test"', [1]],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq user1@elsewhere.test', [1]],
    ['userName sw "user" and not (title eq "t4" or title eq "t3")', [2, 3, 4]],
    ['title eq "t4" or title eq "t3" and displayName eq "Name 2"', [0]],
    ['(title eq "t4" or title eq "t3") and displayName ew "1"', [1]],
    ['externalId eq "x2"', [2]],
    ['externalId eq "X2"', []],
    ['externalId pr and externalId ne "x2"', [0, 1, 3, 4]],
    ['name.familyName gt "F2" and name.givenName co "IVE"', [3, 4]],
    ['displayName ge "name 1" and displayName le "NAME 2"', [1, 2]],
    ['emails eq "mail3@elsewhere.test"', [3]],
    ['emails.value eq "mail3@elsewhere.test"', [3]],
    ['emails[type eq "work"].value eq "mail3@elsewhere.test"', [3]],
    ['emails[type eq "work" and value co "mail3"]', [3]],
    ['emails[type eq "home" and value co "mail3"]', []],
    ['active eq false', [4]],
    ['active eq "True" and title pr', [0, 1, 2, 3]],
    ['meta.created gt "2011-05-13T04:42:34Z" and title pr', [0, 1, 2, 3, 4]],
    ['meta.lastModified lt "2011-05-13T06:42:34+02:00"', []],
    [`urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "d0"`, [0, 2, 4]],
    [
      'schemas eq "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User" and title lt "t1"',
      [4],
    ],
  ])('§3.4.2.2 the filter %s finds the right Users', async (filter, found) => {
    const { status, body } = await many.get(filtered(filter));
    expect(status).toBe(200);
    expect([names(body), body.totalResults]).toEqual([found.map((n) => `user${n}`), found.length]);
  });

  test('sortBy and sortOrder sort the list; Users without the attribute come last, or first if descending', async () => {
    const sorted = async (query: string) => names((await many.get(`/Users?${query}`)).body);
    const up = ['user4', 'user3', 'user2', 'user1', 'user0'];
    expect((await sorted('sortBy=title')).slice(0, 5)).toEqual(up);
    expect((await sorted('sortBy=title&sortOrder=DESCENDING')).slice(1)).toEqual(up.toReversed());
    expect(await sorted('sortBy=userName&sortOrder=descending&count=2')).toEqual([
      'user4',
      'user3',
    ]);
    expect((await many.get('/Users?sortBy=nothing')).body).toMatchObject({
      scimType: 'invalidPath',
    });
  });

  test('attributes and excludedAttributes work on lists and on every answer; both together get 400', async () => {
    const { body } = await many.get('/Users?attributes=userName&startIndex=2&count=1');
    expect(Object.keys(body.Resources[0]).toSorted()).toEqual(['id', 'schemas', 'userName']);
    const { id } = body.Resources[0];
    const one = (query: string) => many.get(`/Users/${id}?${query}`);
    expect((await one('excludedAttributes=title,meta')).body).not.toHaveProperty('title');
    expect((await one('excludedAttributes=id')).body.id).toBe(id);
    expect(await one('attributes=title&excludedAttributes=meta')).toMatchObject({ status: 400 });
    const made = await many.send('POST', '/Users?attributes=userName', {
      userName: address(),
      title: 'x',
    });
    expect(made.body).not.toHaveProperty('title');
    const patched = await many.send('PATCH', `/Users/${id}?attributes=title`, { Operations: [] });
    expect(Object.keys(patched.body).toSorted()).toEqual(['id', 'schemas', 'title']);
    const counted = await many.get('/Users?count=0');
    const refused = await many.send('POST', '/Users?attributes=id&excludedAttributes=id', {
      userName: address(),
    });
    expect(refused.status).toBe(400);
    expect((await many.get('/Users?count=0')).body.totalResults).toBe(counted.body.totalResults);
  });

  test.each(['/.search', '/Users/.search'])(
    'RFC 7644 §3.4.3 POST %s answers a search',
    async (path) => {
      const { status, body } = await many.send('POST', path, {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
        attributes: ['userName', 'title'],
        filter: 'userName sw "user"',
        sortBy: 'userName',
        sortOrder: 'descending',
        startIndex: 1,
        count: 2,
      });
      expect(status).toBe(200);
      expect(body).toMatchObject({ schemas: [listSchema], totalResults: 5, itemsPerPage: 2 });
      expect(names(body)).toEqual(['user4', 'user3']);
      expect(body.Resources[0]).not.toHaveProperty('displayName');
      expect((await many.send('POST', path, [])).status).toBe(400);
      expect((await many.send('POST', path, { count: 'x' })).body.scimType).toBe('invalidValue');
    },
  );

  test('a filter that is malformed or cannot be evaluated gets 400 invalidFilter', async () => {
    for (const filter of [
      'userName',
      'userName eq',
      'nothing eq "x"',
      '(',
      '()',
      'userName zz "x"',
    ]) {
      expect(await many.get(filtered(filter))).toMatchObject({
        status: 400,
        body: { scimType: 'invalidFilter' },
      });
    }
    const started = performance.now();
    expect((await many.send('POST', '/.search', { filter: '('.repeat(10_000) })).status).toBe(400);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

describe('RFC 7644 §4 discovery', () => {
  test('describes Users and Groups, and the supported features', async () => {
    const config = (await client.get('/ServiceProviderConfig')).body;
    expect(config).toMatchObject({
      patch: { supported: true },
      bulk: { supported: false },
      filter: { supported: true, maxResults: 200 },
      sort: { supported: true },
      etag: { supported: true },
    });
    const types = (await client.get('/ResourceTypes')).body;
    expect(types).toMatchObject({ schemas: [listSchema], totalResults: 2 });
    expect((await client.get('/resourcetypes/user')).body).toEqual(types.Resources[0]);
    const schemas = (await client.get('/Schemas')).body;
    expect(schemas.totalResults).toBe(6);
    expect(schemas.Resources[0]).toMatchObject({ name: 'User', description: 'User Account' });
    for (const schema of schemas.Resources) {
      expect((await client.get(`/Schemas/${schema.id}`)).body).toEqual(schema);
    }
    // Each resource is found at the URL that it names.
    const base = idctl.baseUrl + client.base;
    for (const resource of [config, ...types.Resources, ...schemas.Resources]) {
      const { location } = resource.meta;
      expect(location.startsWith(`${base}/`)).toBe(true);
      expect((await client.get(location.slice(base.length))).body).toEqual(resource);
    }
    const [{ endpoint, schema, schemaExtensions }] = types.Resources;
    expect((await client.get(endpoint)).status).toBe(200);
    expect(schemas.Resources.map(({ id }: { id: string }) => id)).toEqual([
      schema,
      ...schemaExtensions.map((extension: { schema: string }) => extension.schema),
      types.Resources[1].schema,
      // The schemas of the discovery resources themselves (RFC 7643 §8.7.2).
      ...[config, types.Resources[0], schemas.Resources[0]].map(({ schemas: [own] }) => own),
    ]);
    // The schemas describe every attribute of the discovery resources.
    for (const resource of [config, types.Resources[0], schemas.Resources[0]]) {
      const described = (await client.get(`/Schemas/${resource.schemas[0]}`)).body.attributes;
      const names = described.map(({ name }: { name: string }) => name);
      const { schemas: _, id: __, meta: ___, ...own } = resource;
      for (const name of Object.keys(own)) expect(names).toContain(name);
    }
  });
});

test('a client that disconnects in the middle of its body disturbs no other request', async () => {
  const { port } = new URL(idctl.baseUrl);
  const half = httpRequest({
    port,
    method: 'POST',
    path: `${client.base}/Users`,
    headers: {
      authorization: `Bearer ${client.token}`,
      'content-type': 'application/json',
      'content-length': 100,
    },
  });
  half.on('error', () => {});
  half.write('{"userName":');
  await new Promise((resolve) => setTimeout(resolve, 100));
  half.destroy();
  expect((await client.get('/Users?count=0')).status).toBe(200);
});
