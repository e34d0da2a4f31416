import { afterAll, beforeAll, expect, test } from 'vitest';
import { orderedId } from '../../src/crypto/id.ts';
import { Organization } from '../../src/database/models/organization.ts';
import type { Database } from '../../src/database/open.ts';
import { execute, refreshStatistics, select } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { parseFilter } from '../../src/services/provisioning/scim/filter.ts';
import { keysOf } from '../../src/services/provisioning/scim/filter-keys.ts';
import { composeFound } from '../../src/services/provisioning/scim/list/filtered.sql.ts';
import { userListing } from '../../src/services/provisioning/scim/list/listing.sql.ts';
import { dialect, openFreshDatabase } from '../support/database.ts';

// With 20,000 records, the query plans of these filters use an index, with and without statistics.

const records = 20_000;
const step = 5000;
const organizationId = orderedId();
let database: Database;

beforeAll(async () => {
  database = await openFreshDatabase();
  await transaction(async () => {
    const createdAt = new Date();
    await Organization.create({ id: organizationId, slug: 'plans', name: 'Plans', createdAt });
    // In steps, so that each statement is short on a busy machine too.
    for (let from = 1; from <= records; from += step)
      for (const statement of fill(createdAt.toISOString(), from)) await execute(statement, []);
  });
});
afterAll(() => database.close());

/** The statements that insert the accounts, records and addresses of one step. */
function fill(at: string, from: number): string[] {
  const last = from + step - 1;
  const numbers = `WITH RECURSIVE s(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM s WHERE n < ${last})`;
  const uuid = dialect === 'postgres' ? 'uuid' : 'text';
  const time = dialect === 'postgres' ? `'${at}'::timestamptz` : `'${at}'`;
  const json = dialect === 'postgres' ? `'{}'::jsonb` : `'{}'`;
  const id = (kind: string) =>
    `CAST('00000000-0000-7000-${kind}-' || (100000000000 + n) AS ${uuid})`;
  const whose = `CAST('${organizationId}' AS ${uuid})`;
  return [
    `INSERT INTO accounts (id, email_proof, name, locale, created_at)
     ${numbers} SELECT ${id('a000')}, 'none', 'p', 'en', ${time} FROM s`,
    `INSERT INTO scim_records (id, organization_id, account_id, link, user_name, user_name_canonical,
       external_id, active, hidden, resource, search, version, created_at, modified_at)
     ${numbers} SELECT ${id('b000')}, ${whose}, ${id('a000')}, 'created', 'u' || n, 'u' || n,
       'e' || n, true, false, '{}', ${json}, 1, ${time}, ${time} FROM s`,
    `INSERT INTO scim_emails (record_id, value_canonical, organization_id)
     ${numbers} SELECT ${id('b000')}, 'm' || n || '@plans.test', ${whose} FROM s`,
  ];
}

async function planOf(filter: string): Promise<string> {
  const parsed = parseFilter(filter);
  const asked = { filter: parsed, sortBy: undefined, descending: false, from: 0, count: 100 };
  const found = composeFound(userListing, organizationId, asked, keysOf(parsed) ?? [], 50);
  const explain = dialect === 'postgres' ? 'EXPLAIN' : 'EXPLAIN QUERY PLAN';
  const rows = await select<Record<string, unknown>>(`${explain} ${found.sql}`, found.bind);
  return rows.map((row) => String(row['detail'] ?? row['QUERY PLAN'])).join('\n');
}

test.each([false, true])(
  'an index finds the records of a filter (statistics: %s)',
  async (analyzed) => {
    if (analyzed && dialect === 'postgres') await transaction(() => execute('ANALYZE', []));
    if (analyzed) await refreshStatistics();
    if (analyzed && dialect === 'sqlite') {
      expect(
        await select("SELECT tbl FROM sqlite_stat1 WHERE tbl = 'scim_records'", []),
      ).not.toEqual([]);
    }
    for (const [filter, index] of [
      ['userName eq "u777"', 'scim_records_user_name'],
      ['externalId eq "e777"', 'scim_records_external_id'],
      ['emails eq "m777@plans.test"', 'scim_emails_value'],
      ['emails.value eq "m777@plans.test"', 'scim_emails_value'],
      ['emails[type eq "work" and value eq "m777@plans.test"]', 'scim_emails_value'],
      ['externalId eq "e777" and active eq true', 'scim_records_external_id'],
      ['externalId eq "e777" or emails eq "m777@plans.test"', 'scim_records_external_id'],
      ['id eq "00000000-0000-7000-b000-100000000309"', 'scim_records'],
    ] as const) {
      const plan = await planOf(filter);
      expect(`${filter}: ${plan}`).toContain(index);
      // The plan scans neither a whole table nor the ordered list, and skip-scans no index.
      expect(`${filter}: ${plan}`).not.toMatch(
        /SCAN r\b|Seq Scan on scim_(records|emails)|scim_records_order|ANY\(/,
      );
    }
  },
);
