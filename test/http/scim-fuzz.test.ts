import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { long, resources } from '../support/scim.ts';
import { type ScimClient, scimClient } from '../support/scim-client.ts';
import { json, noise, patches } from '../support/scim-noise.ts';

let idctl: Idctl;
let client: ScimClient;
/** The ids of Users, the latest last. */
const made: string[] = [];

beforeAll(async () => {
  idctl = await openIdctl();
  client = await scimClient(idctl);
  for (const userName of ['ada', 'bob']) made.push((await client.create({ userName })).id);
});
afterAll(() => idctl.close());

/** One request. In its path, `:id` stands for the id of a User. */
interface Sent {
  method: string;
  path: string;
  body?: string;
  headers?: Record<string, string>;
}

const encoded = noise.map((text) => encodeURIComponent(text.slice(0, 500).toWellFormed()));
const inPath = fc.oneof(encoded, fc.constantFrom('%', '%ff', '%00', '%zz', '__proto__', '.search'));
const named = fc.oneof({ weight: 9, arbitrary: fc.constant(':id') }, inPath);
const parameter = fc.tuple(
  fc.constantFrom(
    'filter',
    'attributes',
    'excludedAttributes',
    'sortBy',
    'sortOrder',
    'startIndex',
    'count',
  ),
  fc.oneof(
    encoded,
    fc.constantFrom('-1', '0', '1e9', '99999999999999999999', 'descending', 'userName'),
  ),
);
const query = fc
  .array(parameter, { maxLength: 3 })
  .map((all) => all.map((one) => one.join('=')).join('&'));
const text = (bodies: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 9, arbitrary: bodies.map((body) => JSON.stringify(body)) }, noise);
const search = fc.record(
  { filter: noise, attributes: json, sortBy: noise, startIndex: json, count: json },
  { requiredKeys: ['filter'] },
);
const headers = fc.oneof(
  { weight: 9, arbitrary: fc.constant({}) },
  fc.constantFrom('*', 'W/"1"', '"', 'W/', ',,').map((version) => ({ 'if-match': version })),
);

const requests: fc.Arbitrary<Sent> = fc.oneof(
  query.map((asked) => ({ method: 'GET', path: `/Users?${asked}` })),
  fc.tuple(named, query).map(([id, asked]) => ({ method: 'GET', path: `/Users/${id}?${asked}` })),
  text(search).map((body) => ({ method: 'POST', path: '/Users/.search', body })),
  fc
    .tuple(text(fc.oneof(resources, json)), query)
    .map(([body, asked]) => ({ method: 'POST', path: `/Users?${asked}`, body })),
  fc
    .tuple(named, text(fc.oneof(resources, json)), headers)
    .map(([id, body, more]) => ({ method: 'PUT', path: `/Users/${id}`, body, headers: more })),
  fc
    .tuple(named, text(patches), headers)
    .map(([id, body, more]) => ({ method: 'PATCH', path: `/Users/${id}`, body, headers: more })),
  named.map((id) => ({ method: 'DELETE', path: `/Users/${id}` })),
);

const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error';
// RFC 7644 §3.12, table 9.
const scimTypes = [
  'invalidFilter',
  'tooMany',
  'uniqueness',
  'mutability',
  'invalidSyntax',
  'invalidPath',
  'noTarget',
  'invalidValue',
  'invalidVers',
  'sensitive',
];

function requireScim({ status, headers: told, body }: Answer): void {
  expect(status).toBeLessThan(500);
  if (status === 204) {
    expect(body).toBe('');
    return;
  }
  expect(told['content-type']).toBe('application/scim+json');
  if (status < 300) {
    expect(body.schemas).toContainEqual(expect.stringMatching(/^urn:ietf:params:scim:/));
    return;
  }
  expect(status).toBeGreaterThanOrEqual(400);
  const { scimType = 'invalidValue', ...error } = body;
  expect(scimTypes).toContain(scimType);
  expect(error).toEqual({
    schemas: [errorSchema],
    status: `${status}`,
    detail: expect.stringMatching(/./),
  });
}

test('RFC 7644 §3.12 every request gets its answer or a SCIM error, never a 5xx', async () => {
  const seen = new Set<number>();
  const numRuns = long ? 10_000 : 300;
  await fc.assert(
    fc.asyncProperty(requests, fc.nat(), async ({ method, path, body, headers: more }, which) => {
      const id = made.at(-1 - (which % Math.min(made.length, 50))) ?? '';
      const answer = await client.send(method, path.replace(':id', id), body, more);
      requireScim(answer);
      seen.add(answer.status);
      if (answer.status === 201) made.push(answer.body.id);
    }),
    { numRuns },
  );
  // Some requests must succeed, or the test would show little.
  expect([...seen]).toEqual(expect.arrayContaining([200, 201, 400, 404]));
  expect((await client.get('/Users?count=200')).status).toBe(200);
});
