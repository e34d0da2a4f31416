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
import { columns, type Entry, entryOf, type Row } from '../../../tenancy/scim-records/record.ts';
import { type Filter, type Key, keysOf } from '../filter.ts';
import { filterCondition } from '../filter-sql.ts';
import { sortExpression } from '../sql.ts';

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
  const found = keys === null ? null : await readFound(organizationId, asked, keys);
  if (found !== null) {
    const { from, count } = asked;
    return { total: found.length, records: found.slice(from, from + count) };
  }
  const queries = composeQueries(organizationId, asked);
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

/** The statements of a page, both within the time. */
function composeQueries(organizationId: string, asked: FilteredQuery): Queries {
  const { condition, bind, order } = compose(organizationId, asked);
  const where = `r.organization_id = $1 AND r.hidden = $2
    AND ${whileInTime(dialectOfDatabase())} AND ${condition}`;
  return {
    page: {
      // Resources can be large, so only the page's are read, after sorting.
      sql: `SELECT ${columns} FROM (
          SELECT r.id FROM scim_records r WHERE ${where} ${order}
           LIMIT $${bind.length + 1} OFFSET $${bind.length + 2}) page
        JOIN scim_records r ON r.id = page.id ${order}`,
      bind: [...bind, asked.count, asked.from],
    },
    count: { sql: `SELECT count(*) AS total FROM scim_records r WHERE ${where}`, bind },
  };
}

/** The condition and the order on `scim_records r`, with the first parameters of a statement. */
function compose(organizationId: string, { filter, sortBy, descending }: FilteredQuery) {
  const dialect = dialectOfDatabase();
  const by = sortBy === undefined ? null : sortExpression(sortBy, dialect);
  const written =
    filter === null ? null : filterCondition(filter, { dialect, first: 3, organization: 1 });
  const direction = descending ? 'DESC NULLS FIRST' : 'ASC NULLS LAST';
  return {
    condition: written?.sql ?? 'true',
    bind: [organizationId, false, ...(written?.bind ?? [])],
    order: `ORDER BY ${by === null ? '' : `${by} ${direction}, `}r.created_at, r.id`,
  };
}

const few = 50;

/** All matches among the records with any of the keys. Null if there are many such records. */
async function readFound(
  organizationId: string,
  asked: FilteredQuery,
  keys: Key[],
): Promise<Entry[] | null> {
  // PostgreSQL fails on an invalid uuid.
  const possible = keys.filter(({ column, value }) => column !== 'id' || isUuid(value));
  if (possible.length === 0) return [];
  // People may share an address, but no two records share an id or a name.
  const most = few + possible.length;
  const { sql, bind } = composeFound(organizationId, asked, possible, most);
  const constant = isOneKey(asked, possible) && asked.sortBy === undefined;
  const rows = await select<Row | { id: null }>(
    sql,
    bind,
    constant ? { prepared: true } : undefined,
  );
  if (rows.length > most) return null;
  return rows.filter((row): row is Row => row.id !== null).map(entryOf);
}

/**
 * The statement of `readFound`: a row for each record with any of the keys, empty if the record
 * does not match. The join fixes the order of the tables. Otherwise SQLite scans the list in its
 * order, or an index for each organization.
 */
export function composeFound(
  organizationId: string,
  asked: FilteredQuery,
  keys: Key[],
  most: number,
): Query {
  // The records of one key are the matches. PostgreSQL would plan the condition for nothing.
  const filter = isOneKey(asked, keys) ? null : asked.filter;
  const { condition, bind, order } = compose(organizationId, { ...asked, filter });
  const found = keys.map(({ column, value }) => {
    const { from, by, record, stored } = places[column];
    const given = bind.push(stored(value));
    return `SELECT ${record} FROM ${from} WHERE organization_id = $1 AND ${by} = $${given}`;
  });
  return {
    sql: `WITH found(id) AS MATERIALIZED (${found.join(' UNION ')} LIMIT ${most + 1})
      SELECT ${columns} FROM found LEFT JOIN scim_records r
        ON r.id = found.id AND r.organization_id = $1 AND r.hidden = $2 AND ${condition}
      ${order}`,
    bind,
  };
}

/** Whether the filter is one comparison that an index answers; an id is also compared by case. */
function isOneKey({ filter }: FilteredQuery, [key]: Key[]): boolean {
  return filter?.kind === 'compare' && key?.column !== 'id';
}

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
