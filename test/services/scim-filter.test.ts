import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { orderedId } from '../../src/crypto/id.ts';
import { Account } from '../../src/database/models/account.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { ScimEmail, ScimRecord } from '../../src/database/models/scim-record.ts';
import type { Database } from '../../src/database/open.ts';
import { select } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import type { ScimResource } from '../../src/services/foundation/scim-user/attribute.ts';
import { fold, userNames } from '../../src/services/foundation/scim-user/names.ts';
import type { WrittenUser } from '../../src/services/foundation/scim-user/resource.ts';
import { searchDocument, searchEmails } from '../../src/services/foundation/scim-user/search.ts';
import { filterCondition } from '../../src/services/provisioning/scim/filter.sql.ts';
import { parseFilter } from '../../src/services/provisioning/scim/filter.ts';
import { keysOf } from '../../src/services/provisioning/scim/filter-keys.ts';
import { matches } from '../../src/services/provisioning/scim/filter-match.ts';
import { sortExpression } from '../../src/services/provisioning/scim/sort.sql.ts';
import { dialect, openFreshDatabase } from '../support/database.ts';
import { filters, instants, long, resources, seen } from '../support/scim.ts';

const [mine, other] = [orderedId(), orderedId()];
const users = fc.sample(resources, { seed: 7643, numRuns: 80 });
const views = new Map<string, ScimResource>();
let database: Database;

beforeAll(async () => {
  database = await openFreshDatabase();
  const at = new Date();
  await transaction(() =>
    Organization.bulkCreate(
      [mine, other].map((id) => ({ id, slug: `o${id}`, name: 'o', createdAt: at })),
    ),
  );
  const names = new Set<string>();
  for (const user of users) {
    // A userName is unique in its organization.
    const userName = names.has(fold(user.userName))
      ? `${user.userName}${names.size}`
      : user.userName;
    names.add(fold(userName));
    await insert(mine, { ...user, userName });
    await insert(other, { ...user, userName });
  }
});
afterAll(() => database.close());

async function insert(organizationId: string, resource: WrittenUser) {
  const [id, accountId] = [orderedId(), orderedId()];
  const { userName, externalId, active } = resource;
  const at = new Date(instants[views.size % instants.length] ?? 0);
  const lookedUp = {
    userName,
    userNameCanonical: fold(userName),
    externalId: typeof externalId === 'string' ? externalId : null,
  };
  await transaction(async () => {
    await Account.create({
      id: accountId,
      email: null,
      emailProof: 'none',
      name: 'a',
      createdAt: at,
    });
    await ScimRecord.create({
      ...{ id, organizationId, accountId, link: 'created', ...lookedUp, active, hidden: false },
      ...{ resource: JSON.stringify(resource), search: searchDocument(resource) },
      ...{ version: 1, createdAt: at, modifiedAt: at },
    });
    const emails = searchEmails(resource).map((valueCanonical) => ({
      recordId: id,
      organizationId,
      valueCanonical,
    }));
    await ScimEmail.bulkCreate(emails);
  });
  if (organizationId === mine) views.set(id, seen(resource, id, active, at));
}

async function found(filter: string): Promise<string[]> {
  const { sql, bind } = filterCondition(parseFilter(filter), {
    dialect,
    first: 2,
    organization: 1,
  });
  const text = `SELECT r.id FROM scim_records r WHERE r.organization_id = $1 AND ${sql}`;
  return (await select<{ id: string }>(text, [mine, ...bind])).map(({ id }) => id).sort();
}

function expected(filter: string): string[] {
  const parsed = parseFilter(filter);
  return [...views]
    .filter(([, view]) => matches(view, parsed))
    .map(([id]) => id)
    .sort();
}

test('RFC 7644 §3.4.2.2 a query finds the same records as the filter in memory, for any filter and any resources', async () => {
  let some = 0;
  const property = fc.asyncProperty(filters([...views.keys()].slice(0, 3)), async (filter) => {
    const ids = await found(filter);
    expect(ids, filter).toEqual(expected(filter));
    some += ids.length > 0 && ids.length < views.size ? 1 : 0;
  });
  await fc.assert(property, { numRuns: long ? 10_000 : 300 });
  expect(some).toBeGreaterThan(50);
}, 300_000);

test.each([
  ['userName eq "x"', true],
  ['externalId eq "x" and displayName co "x"', true],
  ['emails.value eq "x"', true],
  ['emails[type eq "work"].value eq "x"', true],
  ['active eq true and meta.lastModified gt "2011-05-13T04:42:34Z"', false],
  ['id eq "x" or displayName eq "x"', false],
  ['active eq true and displayName co "x"', false],
  ['not (userName co "x")', false],
  ['not (userName eq "x")', false],
  [Array.from({ length: 5 }, (_, at) => `not (userName eq "${at}")`).join(' and '), false],
  [Array.from({ length: 5 }, (_, at) => `userName eq "${at}"`).join(' or '), true],
  [
    Array.from({ length: 5 }, (_, at) => `meta.created eq "201${at}-01-01T00:00:00Z"`).join(' or '),
    false,
  ],
])('design scim.md: %s is answered by indexes: %s', (filter, indexed) => {
  expect(keysOf(parseFilter(filter)) !== null).toBe(indexed);
});

test.each([
  ['userName eq "a"', 'scim_records_user_name'],
  ['externalId eq "a"', 'scim_records_external_id'],
  ['emails.value eq "a"', 'scim_emails_value'],
  ['emails[type eq "work"].value eq "a"', 'scim_emails_value'],
])('design scim.md: %s uses the index %s', async (filter, index) => {
  const { sql, bind } = filterCondition(parseFilter(filter), {
    dialect,
    first: 2,
    organization: 1,
  });
  const explain = dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
  const text = `SELECT r.id FROM scim_records r WHERE r.organization_id = $1 AND ${sql}`;
  const plan = await transaction(async () => {
    // With so few rows, PostgreSQL prefers to scan. The test is whether it can use the index.
    if (dialect === 'postgres') await select('SET LOCAL enable_seqscan = off', []);
    return select(`${explain} ${text}`, [mine, ...bind]);
  });
  expect(JSON.stringify(plan)).toContain(index);
});

test('RFC 7644 §3.4.2.3 records are sorted by folded text, or by the primary or first of several values; records without a value come last', async () => {
  const key = (view: ScimResource, by: string) => {
    const elements = Array.isArray(view['emails']) ? view['emails'] : [];
    const primary =
      elements.find((one) => (one as ScimResource)['primary'] === true) ?? elements[0];
    const value = by === 'emails' ? (primary as ScimResource | undefined)?.['value'] : view[by];
    return typeof value === 'string' ? Buffer.from(fold(value)).toString('hex') : '~';
  };
  for (const by of ['emails', 'displayName', 'userName']) {
    const order = `${sortExpression(by, dialect, userNames)} ASC NULLS LAST, r.id`;
    const text = `SELECT r.id FROM scim_records r WHERE r.organization_id = $1 ORDER BY ${order}`;
    const rows = await select<{ id: string }>(text, [mine]);
    const keys = rows.map(({ id }) => key(views.get(id) ?? {}, by));
    expect(keys, by).toEqual([...keys].sort());
  }
  expect(() => sortExpression('unknown', dialect, userNames)).toThrow('cannot be sorted');
  expect(() => sortExpression('meta.version', dialect, userNames)).toThrow('cannot be sorted');
});
