import PQueue from 'p-queue';
import { dialectOfDatabase, select } from '../../../../database/select.ts';
import {
  OutOfTime,
  type Query,
  selectWithin,
  whileInTime,
} from '../../../../database/select-within.ts';
import { queueForEach, waitForTurn } from '../../../../queue.ts';
import { isUuid } from '../../../foundation/fields.ts';
import { fold } from '../../../foundation/scim-user/names.ts';
import { scimRefusal } from '../../../foundation/scim-user/refusal.ts';
import { columns, entryOf, type Row } from '../../../tenancy/scim-records/record.ts';
import { type Filter, type Key, keysOf } from '../filter.ts';
import { filterCondition } from '../filter-sql.ts';
import { type Dialect, sortExpression } from '../sql.ts';

/** A list with a filter or its own order. */
export interface FilteredQuery {
  filter: Filter | null;
  sortBy: string | undefined;
  descending: boolean;
  from: number;
  count: number;
}

const budgetMs = 2000;

// One slow read per organization runs at a time, and few in total. So one client's filters do not
// delay another's, and on PostgreSQL they do not take all connections.
const ofOrganization = queueForEach();
const slowReads = new PQueue({ concurrency: 3 });

/**
 * Runs the read when it is the organization's turn and there is room. Throws `OutOfTime` if that
 * comes too late.
 */
export function inListTurn<T>(
  organizationId: string,
  until: number,
  read: () => Promise<T>,
): Promise<T> {
  const inTime = async () => {
    if (performance.now() >= until) throw new OutOfTime();
    return read();
  };
  return waitForTurn([() => ofOrganization(organizationId), () => slowReads], inTime, {
    patience: until - performance.now(),
    late: () => new OutOfTime(),
  });
}

/**
 * A page of a filtered or sorted list, and the total. If an index finds few records, it is answered
 * at once. Other queries may scan every record, so they run aside, in turn and within 2 s. After
 * that they are refused with 400 `tooMany`.
 */
export async function readFiltered(organizationId: string, asked: FilteredQuery) {
  const keys = asked.filter === null ? null : keysOf(asked.filter);
  const atOnce = keys !== null && (await areFew(organizationId, keys));
  const queries = composeQueries(organizationId, asked, atOnce ? keys : null);
  if (atOnce) return readPage(asked, queries, (query) => select(query.sql, query.bind));
  const until = performance.now() + budgetMs;
  try {
    return await inListTurn(organizationId, until, () =>
      readPage(asked, queries, (query) => selectWithin(until - performance.now(), query)),
    );
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
    throw scimRefusal(
      400,
      'tooMany',
      'The filter takes too long; ask by userName, externalId or e-mail.',
    );
  }
}

/** Without the plus sign, SQLite without statistics would scan the whole list in its order. */
function foundBy(keys: Key[], bind: unknown[], dialect: Dialect): string {
  const bare = dialect === 'sqlite' ? '+' : '';
  return `r.id IN (${recordsWith(keys, bind)})
    AND ${bare}r.organization_id = $1 AND ${bare}r.hidden = $2`;
}

interface Queries {
  page: Query;
  count: Query;
}

type Read = <R extends object>(query: Query) => Promise<R[]>;

async function readPage({ from, count }: FilteredQuery, queries: Queries, read: Read) {
  const rows = count === 0 ? [] : await read<Row>(queries.page);
  const records = rows.map(entryOf);
  // A page that is not full is the last, so the total is known.
  if (rows.length < count && (rows.length > 0 || from === 0))
    return { total: from + rows.length, records };
  const [counted] = await read<{ total: number | string }>(queries.count);
  return { total: Number(counted?.total ?? 0), records };
}

/** The statements of a page: of the records with these keys; else of all, within the time. */
export function composeQueries(
  organizationId: string,
  asked: FilteredQuery,
  keys: Key[] | null,
): Queries {
  const { filter, sortBy, descending, from, count } = asked;
  const dialect = dialectOfDatabase();
  const by = sortBy === undefined ? null : sortExpression(sortBy, dialect);
  const condition =
    filter === null ? null : filterCondition(filter, { dialect, first: 3, organization: 1 });
  const bind = [organizationId, false, ...(condition?.bind ?? [])];
  const where = [
    keys === null
      ? `r.organization_id = $1 AND r.hidden = $2 AND ${whileInTime(dialect)}`
      : foundBy(keys, bind, dialect),
    condition?.sql ?? 'true',
  ].join(' AND ');
  const direction = descending ? 'DESC NULLS FIRST' : 'ASC NULLS LAST';
  const order = `ORDER BY ${by === null ? '' : `${by} ${direction}, `}r.created_at, r.id`;
  return {
    page: {
      // Resources can be large, so only the page's are read, after sorting.
      sql: `SELECT ${columns} FROM (
          SELECT r.id FROM scim_records r WHERE ${where} ${order}
           LIMIT $${bind.length + 1} OFFSET $${bind.length + 2}) page
        JOIN scim_records r ON r.id = page.id ${order}`,
      bind: [...bind, count, from],
    },
    count: { sql: `SELECT count(*) AS total FROM scim_records r WHERE ${where}`, bind },
  };
}

const few = 50;

/** The table and index to find a key's records with. */
const places = {
  id: { from: 'scim_records', by: 'id', record: 'id', stored: (value: string) => value },
  userName: { from: 'scim_records', by: 'user_name_canonical', record: 'id', stored: fold },
  externalId: {
    from: 'scim_records',
    by: 'external_id',
    record: 'id',
    stored: (value: string) => value,
  },
  email: { from: 'scim_emails', by: 'value_canonical', record: 'record_id', stored: fold },
} as const satisfies Record<Key['column'], unknown>;

/** Selects the ids of records with any of the keys, each by its index; adds values to `bind`. */
function recordsWith(keys: Key[], bind: unknown[]): string {
  // PostgreSQL fails on an invalid uuid.
  const possible = keys.filter(({ column, value }) => column !== 'id' || isUuid(value));
  const parts = possible.map(({ column, value }) => {
    const { from, by, record, stored } = places[column];
    const given = bind.push(stored(value));
    return `SELECT ${record} FROM ${from} WHERE organization_id = $1 AND ${by} = $${given}`;
  });
  // Matches no record.
  return parts.length === 0 ? 'SELECT NULL' : parts.join(' UNION ');
}

/** Whether few enough records have any of the keys to read at once: people may share an address. */
async function areFew(organizationId: string, keys: Key[]): Promise<boolean> {
  const shared = keys.filter(({ column }) => column === 'externalId' || column === 'email');
  if (shared.length === 0) return true;
  const bind: unknown[] = [organizationId];
  const counts = shared.map(
    (key) =>
      `(SELECT count(*) FROM (${recordsWith([key], bind)} LIMIT ${few + 1}) k${bind.length})`,
  );
  const [row] = await select<{ records: number | string }>(
    `SELECT ${counts.join(' + ')} AS records`,
    bind,
  );
  return Number(row?.records ?? 0) <= few;
}
