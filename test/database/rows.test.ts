import { afterAll, beforeAll, expect, test } from 'vitest';
import { hold } from '../../src/database/hold.ts';
import { Account } from '../../src/database/models/account.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { Webhook } from '../../src/database/models/webhook.ts';
import type { Database } from '../../src/database/open.ts';
import { select, selectAmong } from '../../src/database/select.ts';
import { selectWithin, whileInTime } from '../../src/database/select-within.ts';
import { transaction } from '../../src/database/transaction.ts';
import { openFreshDatabase } from '../support/database.ts';

// Rows of plain SQL have the same form on both databases.

let database: Database;
const id = crypto.randomUUID();
const organizationId = crypto.randomUUID();
const createdAt = new Date('2026-03-04T05:06:07.089Z');

beforeAll(async () => {
  database = await openFreshDatabase();
  await transaction(async () => {
    await Account.create({ id, email: null, emailProof: 'none', name: 'Ada', createdAt });
    await Organization.create({ id: organizationId, slug: 'acme', name: 'Acme', createdAt });
    await Webhook.create({
      ...{ id, organizationId, url: 'https://hooks.test/', enabled: true, createdAt },
      ...{ events: ['user.deleted'], secret: 'sealed' },
    });
  });
});

afterAll(() => database.close());

interface Row {
  id: string;
  all: number;
  newest: Date | null;
  never: Date | null;
  enabled: boolean;
  unset: boolean | null;
  some: boolean;
  events: string[] | null;
}

const columns = {
  newest: 'time',
  never: 'time',
  enabled: 'flag',
  unset: 'flag',
  some: 'flag',
  events: 'json',
} as const;

const query = (list = '$1') => `SELECT w.id, (SELECT COUNT(*) FROM accounts) AS "all",
    (SELECT MAX(created_at) FROM accounts) AS newest, w.failing_since AS never, w.enabled,
    CAST(NULL AS boolean) AS unset, CASE WHEN w.enabled THEN 1 ELSE 0 END AS some, w.events
  FROM webhooks w WHERE w.id IN (${list}) AND ${whileInTime()}`;
// The other functions have no time limit.
const unlimited = (list?: string) => query(list).replace(whileInTime(), 'true');

const row: Row = {
  ...{ id, all: 1, newest: createdAt, never: null, enabled: true, unset: null, some: true },
  events: ['user.deleted'],
};

test('counts are numbers, flags booleans, times dates, and JSON its value', async () => {
  expect(await select<Row>(unlimited(), [id], { columns })).toEqual([row]);
  expect(await select<Row>(unlimited(), [id], { prepared: true, columns })).toEqual([row]);
  expect(await selectAmong<Row>([id], unlimited, [], { columns })).toEqual([row]);
  expect(await selectWithin<Row>(60_000, { sql: query(), bind: [id], columns })).toEqual([row]);
});

test('rows have the same form inside a transaction, and when they are held', async () => {
  await transaction(async () => {
    expect(await select<Row>(unlimited(), [id], { columns })).toEqual([row]);
    const kind = { kind: 'organization', how: 'kept', id: () => organizationId } as const;
    expect(await hold.rows<Row>([unlimited(), [id], { columns }], kind)).toEqual([row]);
    expect(await hold.among<Row>([[id], unlimited, [], { columns }], kind)).toEqual([row]);
  });
});

test('a row with flags, times or JSON does not compile without their columns', () => {
  const unnamed = async () => {
    // @ts-expect-error `never` is a time.
    await select<Pick<Row, 'never'>>('SELECT failing_since AS never FROM webhooks', []);
    // @ts-expect-error `enabled` is a flag.
    await select<Pick<Row, 'enabled'>>('', [], { columns: { enabled: 'time' } });
    await select<Pick<Row, 'id' | 'all'>>('', []);
  };
  expect(unnamed).toBeTypeOf('function');
});

test('a statement may use its parameters in any order and several times', async () => {
  const text = (number: number) => `CAST($${number} AS text)`;
  const sql = `SELECT ${text(3)} AS first, ${text(1)} AS second, ${text(3)} AS third
    WHERE ${text(2)} = 'b'`;
  const ask = () => select<object>(sql, ['a', 'b', 'c']);
  const found = [{ first: 'c', second: 'a', third: 'c' }];
  expect(await ask()).toEqual(found);
  expect(await transaction(ask)).toEqual(found);
});

test('without parameters, a `$1` belongs to a text or a name', async () => {
  const rows = await select<{ of$1: string; text: string }>(
    `SELECT of$1.slug AS of$1, '$1' AS text FROM organizations AS of$1`,
    [],
  );
  expect(rows).toEqual([{ of$1: 'acme', text: '$1' }]);
});
