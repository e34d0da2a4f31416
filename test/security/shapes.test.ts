import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import type { Route } from '../../src/http/route.ts';
import { surface } from '../../src/http/surface.ts';
import { type Company, foundCompany, pathOf, samples } from '../support/company.ts';
import type { Answer } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

// Checks security X6 and X9 on every route, new routes included: a request must have the declared
// shape.

let instance: Idctl;
let company: Company;
beforeAll(async () => {
  instance = await openIdctl({ orgs: { creation: 'anyone' }, signup: { open: true } });
  company = await foundCompany(instance);
});
afterAll(() => instance.close());

const nameOf = ({ method, path }: Route) => `${method} ${path}`;
const takesBody = ({ method }: Route) => /^(POST|PUT|PATCH)$/.test(method);
// OAuth forms ignore unknown fields, and have their own tests.
const isForm = ({ speaks, crossSiteForm }: Route) => speaks === 'oauth' || crossSiteForm === true;
const withBody = surface.routes.filter((route) => takesBody(route) && !isForm(route));
const withQuery = surface.routes.filter((route) => !takesBody(route));
const sampleOf = (route: Route) => samples[nameOf(route)] ?? {};

function send(route: Route, body: unknown): Promise<Answer> {
  const json = { 'content-type': 'application/json' };
  return company.owner.send(route.method, pathOf(route, company, company.owner), {
    body,
    headers: json,
  });
}

function get(route: Route, search: string): Promise<Answer> {
  return company.owner.send(route.method, `${pathOf(route, company, company.owner)}?${search}`);
}

async function everything(): Promise<string> {
  const models = Object.values(Account.sequelize?.models ?? {}).filter(
    ({ name }) => name !== 'Counter',
  );
  return JSON.stringify(await Promise.all(models.map((model) => model.findAll({ raw: true }))));
}

// Names with a meaning for JavaScript objects, such as inherited properties.
const inherited = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
];

describe('X6 shapes', () => {
  test('X6 keys of prototypes are unknown fields, in bodies and queries', async () => {
    const before = await everything();
    for (const key of inherited) {
      for (const route of withBody) {
        const { body } = sampleOf(route);
        const text = JSON.stringify({ ...body, KEY: { admin: true } }).replace('KEY', key);
        const answer = await send(route, text);
        expect([nameOf(route), key, answer.status]).toEqual([nameOf(route), key, 400]);
        expect(answer.body.errors, nameOf(route)).toContainEqual({
          path: key,
          message: 'is not a known field',
        });
      }
      for (const route of withQuery.filter(({ lenientQuery }) => !lenientQuery)) {
        const answer = await get(route, `${new URLSearchParams(sampleOf(route).query)}&${key}=x`);
        expect([nameOf(route), key, answer.status]).toEqual([nameOf(route), key, 400]);
      }
    }
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
    expect(await everything()).toBe(before);
  });

  test('X6 a query key that is given twice is refused, in every spelling', async () => {
    for (const route of withQuery) {
      for (const [key = ''] of Object.entries({ ...sampleOf(route).query, nonsense: '' })) {
        for (const twice of [`${key}=a&${key}=a`, `${key}=a&${encodeURIComponent(key)}=b`]) {
          const answer = await get(route, twice);
          expect([nameOf(route), twice, answer.status]).toEqual([nameOf(route), twice, 400]);
        }
        if (route.lenientQuery) continue;
        for (const list of [`${key}[]=a`, `${key}[0]=a`, `${key}[a]=b`, `${key}.a=b`]) {
          const answer = await get(route, list);
          expect([nameOf(route), list, answer.status]).toEqual([nameOf(route), list, 400]);
        }
      }
    }
  });

  test('X6 a list, an object or a query operator is refused in place of a scalar', async () => {
    const before = await everything();
    const others = [[], ['a'], {}, { $ne: null }, { $like: '%' }, { gt: '' }, [{ $ne: 1 }]];
    for (const route of withBody) {
      const { body = {} } = sampleOf(route);
      for (const [field, value] of Object.entries(body)) {
        if (typeof value === 'object') continue;
        for (const other of others) {
          const answer = await send(route, JSON.stringify({ ...body, [field]: other }));
          const where = `${nameOf(route)} ${field} ${JSON.stringify(other)}`;
          expect([where, answer.status]).toEqual([where, 400]);
        }
      }
    }
    expect(await everything()).toBe(before);
  });
});

describe('X9 names', () => {
  test('X9 no name or description accepts invisible characters or ones that reverse text', async () => {
    const before = await everything();
    const tried: string[] = [];
    for (const route of withBody) {
      const { body = {} } = sampleOf(route);
      for (const field of Object.keys(body).filter((key) =>
        /^(name|description|locale)$/.test(key),
      )) {
        tried.push(`${nameOf(route)} ${field}`);
        for (const hidden of [
          '\u0007',
          '\u001b[31m',
          '\u007f',
          '\u009b31m',
          '\u202e',
          '\u2066',
          '\u200f',
          '\u061c',
          '\u200b',
          '\u2060',
          '\u{e0041}',
          '1\u200d2',
        ]) {
          const answer = await send(route, JSON.stringify({ ...body, [field]: `A${hidden}b` }));
          const where = `${nameOf(route)} ${field} ${JSON.stringify(hidden)}`;
          expect([where, answer.status]).toEqual([where, 400]);
        }
      }
    }
    expect(tried).toContain('PATCH /api/v1/me name');
    expect(tried).toContain('POST /api/v1/me/tokens description');
    expect(await everything()).toBe(before);
  });
});
