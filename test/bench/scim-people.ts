import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { openApp } from '../../src/app.ts';
import { configSchema } from '../../src/config/schema.ts';
import { openContext } from '../../src/context.ts';
import { Account } from '../../src/database/models/account.ts';
import { ScimRecord } from '../../src/database/models/scim-record.ts';
import { execute } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { memberResource } from '../../src/services/foundation/scim-user/resource.ts';
import { searchDocument } from '../../src/services/foundation/scim-user/search.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { createOrganization } from '../../src/services/tenancy/organizations/operations.ts';

/** An organization of `count` people, and the data that its client needs. */
export interface People {
  count: number;
  base: string;
  token: string;
  nameOf(n: number): string;
}

/** Fills a fresh database with an organization of each size. */
export async function populate(
  database: string,
  keyFile: string,
  sizes: number[],
): Promise<People[]> {
  const settings = configSchema.parse({ log: { level: 'fatal' } });
  const address = { ...settings.database, url: database };
  const config = { ...settings, baseUrl: 'http://127.0.0.1', keyFile, database: address };
  const app = await openApp({ config }, { migrate: 'yes' });
  const operator = openContext(app, { kind: 'operator', name: 'bench' });
  const made: People[] = [];
  for (const count of sizes) {
    const { id, slug } = await createOrganization(operator, { name: `Size ${count}` });
    const { token } = await rotateScimToken(operator, { org: slug });
    const nameOf = (n: number) => `u${n}.${count}@elsewhere.test`;
    await fill(id, count, nameOf);
    made.push({ count, base: `/scim/v2/orgs/${id}`, token, nameOf });
  }
  await app.close();
  return made;
}

async function fill(
  organizationId: string,
  count: number,
  nameOf: (n: number) => string,
): Promise<void> {
  for (let from = 0; from < count; from += 1000) {
    const some = Array.from({ length: Math.min(1000, count - from) }, (_, at) => from + at);
    await transaction(() => fillSome(organizationId, some, nameOf));
  }
  const emails = `INSERT INTO scim_emails (record_id, value_canonical, organization_id)
    SELECT id, user_name_canonical, organization_id FROM scim_records WHERE organization_id = $1`;
  await transaction(() => execute(emails, [organizationId]));
}

async function fillSome(
  organizationId: string,
  some: number[],
  nameOf: (n: number) => string,
): Promise<void> {
  const people = some.map((n) => ({
    accountId: randomUUID(),
    at: new Date(Date.now() - 86_400_000 + n),
    n,
  }));
  await Account.bulkCreate(
    people.map(({ accountId, at, n }) => {
      return {
        id: accountId,
        email: nameOf(n),
        emailProof: 'none' as const,
        name: 'Ada',
        createdAt: at,
      };
    }),
  );
  await ScimRecord.bulkCreate(
    people.map(({ accountId, at, n }) => {
      const resource = memberResource({ email: nameOf(n), name: 'Ada Byron' });
      return {
        id: randomUUID(),
        organizationId,
        accountId,
        link: 'created' as const,
        userName: nameOf(n),
        userNameCanonical: nameOf(n),
        externalId: `e${n}`,
        active: false,
        hidden: false,
        resource: JSON.stringify(resource),
        search: searchDocument(resource),
        version: 1,
        createdAt: at,
        modifiedAt: at,
      };
    }),
  );
}

/** Requests of one kind; each has its own path and body. */
export interface Load {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: () => string;
  body?: () => object;
  learn?: (answer: Record<string, unknown>) => void;
}

/** Keeps `atOnce` requests in flight for `ms` milliseconds, and returns the answers a second. */
export async function load(
  url: string,
  people: People,
  kind: Load,
  ms: number,
  atOnce = 16,
): Promise<number> {
  const pool = new Pool(url, { connections: atOnce, pipelining: 1 });
  const began = performance.now();
  let done = 0;
  const one = async () => {
    while (performance.now() - began < ms) {
      const text = await send(pool, people, kind);
      if (kind.learn) kind.learn(JSON.parse(text));
      done += 1;
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, one));
    return (1000 * done) / (performance.now() - began);
  } finally {
    await pool.close();
  }
}

const pools = new Map<string, Pool>();

/** Sends one request, on a connection that stays open. */
export async function ask(url: string, people: People, path: string): Promise<void> {
  const pool = pools.get(url) ?? new Pool(url, { connections: 1 });
  pools.set(url, pool);
  await send(pool, people, { method: 'GET', path: () => path });
}

async function send(pool: Pool, people: People, { method, path, body }: Load): Promise<string> {
  const answer = await pool.request({
    method,
    path: people.base + path(),
    headers: { authorization: `Bearer ${people.token}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body()),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${method}: ${answer.statusCode} ${text}`);
  return text;
}
