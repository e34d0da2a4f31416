import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forwardAuthPaths } from '../../src/http/forward-auth.ts';
import { providerPaths } from '../../src/http/oauth/provider.ts';
import { describeProtocols } from '../../src/http/openapi-protocols.ts';
import { surface } from '../../src/http/surface.ts';
import { userSchema } from '../../src/services/foundation/scim-user/attribute.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { startBrowser } from '../support/browser.ts';
import { person } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { scimClient } from '../support/scim-client.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

const document = async () => (await idctl.client().get('/api/v1/openapi.json')).body;

test('§4.4 a public validator accepts the API document as OpenAPI 3.1', async () => {
  const result = await new Validator().validate(await document());
  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
});

/** The operations of some paths of the document, such as `GET /api/v1/me`. */
const operationsIn = (paths: object) =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
const protocols = operationsIn(describeProtocols());

test('the API document has every route with its fields, and no other route but those of the protocols', async () => {
  const { paths } = await document();
  const routes = surface.routes.map(
    ({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`,
  );
  expect(operationsIn(paths).sort()).toEqual([...routes, ...protocols].sort());
  const ids = Object.values(paths).flatMap((item) =>
    Object.values(item as Record<string, { operationId: string }>).map(
      ({ operationId }) => operationId,
    ),
  );
  expect(new Set(ids).size).toBe(ids.length);
  expect(
    paths['/api/v1/auth/login'].post.requestBody.content['application/json'].schema.required,
  ).toEqual(['email', 'password']);
  expect(paths['/api/v1/orgs/{org}/members'].get.parameters).toMatchObject([
    { name: 'org', in: 'path', required: true },
    { name: 'q', in: 'query', required: false },
    { name: 'role', in: 'query', required: false },
    { name: 'limit', in: 'query', required: false },
    { name: 'cursor', in: 'query', required: false },
    { name: 'before', in: 'query', required: false },
  ]);
  expect(JSON.stringify(paths['/api/v1/auth/resume'])).not.toContain('refreshToken');
});

test('every operation of a protocol in the API document is served', async () => {
  const client = await scimClient(idctl);
  const { body: user } = await client.send('POST', '/Users', { userName: 'ada@acme.test' });
  const { body: group } = await client.send('POST', '/Groups', { displayName: 'dev' });
  const fill: Record<string, string> = { type: 'User', urn: userSchema };
  const base = `/scim/v2/orgs/${client.org.id}`;
  for (const operation of protocols) {
    const [method = '', path = ''] = operation.split(' ');
    const id = path.includes('/Groups') ? group.id : user.id;
    const at = path.replace('{orgId}', client.org.id).replace('{id}', id);
    const filled = at.replace(/\{(\w+)\}/g, (_, name: string) => fill[name] ?? '');
    const { status } = filled.startsWith(base)
      ? await client.send(method, filled.slice(base.length), method === 'GET' ? undefined : {})
      : await idctl.client().send(method, filled);
    expect([operation, [404, 405, 500, 501].includes(status)]).toEqual([operation, false]);
  }
  const served = [...providerPaths, ...forwardAuthPaths, { method: 'GET', path: '/oauth/logout' }];
  const inner = /:uid|\/\.idctl\//;
  for (const { method, path } of served.filter((one) => !inner.test(one.path)))
    expect(protocols).toContain(`${method} ${path}`);
});

test('the reference page loads only our own files, under a policy that forbids everything else', async () => {
  const page = await idctl.client().get('/api/v1/docs');
  expect(page.status).toBe(200);
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  expect(page.headers['content-security-policy']).not.toContain('unsafe');
  for (const [, path] of page.body.matchAll(/(?:src|href)="(docs[^"]+)"/g)) {
    expect((await idctl.client().get(`/api/v1/${path}`)).status, path).toBe(200);
  }
});

describe.skipIf(counterpartMissing('chromium'))('§4.4 the reference in a real Chromium', () => {
  test('shows every operation, breaks no policy, loads nothing from elsewhere, and "try it" works with a PAT', async () => {
    const { token } = await createToken(idctl.operator(), {
      user: (await person(idctl)).id,
      name: 'reference',
    });
    const browser = await startBrowser([idctl.baseUrl]);
    try {
      const { page, complaints, foreign } = await browser.open();
      await page.goto(`${idctl.baseUrl}/api/v1/docs`);
      await page.waitForSelector('.opblock');
      await page.click('.btn.authorize');
      await page.fill('#auth-bearer-value', token);
      await page.locator('.auth-btn-wrapper .authorize').first().click();
      await page.click('.btn-done');
      // The page draws only the operations near the window, so collect them while it scrolls.
      const seen = new Set<string>();
      const me = page.locator('#operations-me-getMe');
      await expect
        .poll(
          async () => {
            const drawn = await page
              .locator('.opblock')
              .evaluateAll((all) => all.map(({ id }) => id));
            for (const id of drawn) seen.add(id);
            await page.mouse.wheel(0, 500);
            return seen.size;
          },
          // The page shows every route, the protocols, and the message to a webhook.
          { timeout: 60_000 },
        )
        .toBe(1 + surface.routes.length + protocols.length);
      await page.mouse.wheel(0, -100_000);
      await expect
        .poll(async () => {
          if ((await me.count()) === 0) await page.mouse.wheel(0, 300);
          return me.count();
        })
        .toBe(1);
      await me.locator('.opblock-summary-control').click();
      await me.locator('.try-out__btn').click();
      await me.locator('.execute').click();
      await expect
        .poll(
          () => me.locator('.live-responses-table tbody .response-col_status').first().innerText(),
          {
            timeout: 20_000,
          },
        )
        .toContain('200');
      expect(complaints).toEqual([]);
      expect(foreign).toEqual([]);
    } finally {
      await browser.close();
    }
  }, 180_000);
});
