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
import { scimRefusal } from '../../../foundation/scim-user/refusal.ts';
import type { Filter } from '../filter.ts';
import { type Key, keysOf } from '../filter-keys.ts';
import { filterCondition } from '../filter-sql.ts';
import { sortExpression } from '../sql.ts';
import type { Listing } from './listing.ts';

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
 * A page of a filtered or sorted list, and the total. If an index finds few rows, it is answered
 * at once. Other queries may scan every row, so they run aside, in turn and within 2 s. After that
 * they are refused with 400 `tooMany`.
 */
export async function readFiltered<Stored extends object, Shown>(
  listing: Listing<Stored, Shown>,
  organizationId: string,
  asked: FilteredQuery,
): Promise<{ total: number; records: Shown[] }> {
  const keys = asked.filter === null ? null : keysOf(asked.filter);
  const found = keys === null ? null : await readFound(listing, organizationId, asked, keys);
  if (found !== null) {
    const { from, count } = asked;
    return { total: found.length, records: found.slice(from, from + count) };
  }
  const queries = composeQueries(listing, organizationId, asked);
  const until = performance.now() + budgetMs;
  try {
    const { total, rows } = await inListTurn(organizationId, until, () =>
      readPage<Stored>(asked, queries, (query) => selectWithin(until - performance.now(), query)),
    );
    return { total, records: rows.map(listing.read) };
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
    const byKeys =
      listing.names.kind === 'User'
        ? 'userName, externalId or e-mail'
        : 'displayName or externalId';
    throw scimRefusal(400, 'tooMany', `The filter takes too long; ask by ${byKeys}.`);
  }
}

interface Queries {
  page: Query;
  count: Query;
}

async function readPage<Stored extends object>(
  { from, count }: FilteredQuery,
  queries: Queries,
  read: <R extends object>(query: Query) => Promise<R[]>,
) {
  const rows = count === 0 ? [] : await read<Stored>(queries.page);
  // A page that is not full is the last, so the total is known.
  if (rows.length < count && (rows.length > 0 || from === 0))
    return { total: from + rows.length, rows };
  const [counted] = await read<{ total: number | string }>(queries.count);
  return { total: Number(counted?.total ?? 0), rows };
}

type AnyListing = Pick<
  Listing<object, unknown>,
  'names' | 'table' | 'columns' | 'visible' | 'places'
>;

/** The statements of a page, both within the time. */
function composeQueries(
  listing: AnyListing,
  organizationId: string,
  asked: FilteredQuery,
): Queries {
  const { table, columns } = listing;
  const { condition, bind, order } = compose(listing, organizationId, asked);
  const where = `r.organization_id = $1 AND ${listing.visible}
    AND ${whileInTime(dialectOfDatabase())} AND ${condition}`;
  return {
    page: {
      // Resources can be large, so only the page's are read, after sorting.
      sql: `SELECT ${columns} FROM (
          SELECT r.id FROM ${table} r WHERE ${where} ${order}
           LIMIT $${bind.length + 1} OFFSET $${bind.length + 2}) page
        JOIN ${table} r ON r.id = page.id ${order}`,
      bind: [...bind, asked.count, asked.from],
    },
    count: { sql: `SELECT count(*) AS total FROM ${table} r WHERE ${where}`, bind },
  };
}

/** The condition and the order on `r`, with the first parameters of a statement. */
function compose(
  { names }: AnyListing,
  organizationId: string,
  { filter, sortBy, descending }: FilteredQuery,
) {
  const dialect = dialectOfDatabase();
  const by = sortBy === undefined ? null : sortExpression(sortBy, dialect, names);
  const written =
    filter === null ? null : filterCondition(filter, { dialect, first: 2, organization: 1 });
  const direction = descending ? 'DESC NULLS FIRST' : 'ASC NULLS LAST';
  return {
    condition: written?.sql ?? 'true',
    bind: [organizationId, ...(written?.bind ?? [])],
    order: `ORDER BY ${by === null ? '' : `${by} ${direction}, `}r.created_at, r.id`,
  };
}

const few = 50;

/** All matches among the rows with any of the keys. Null if there are many such rows. */
async function readFound<Stored extends object, Shown>(
  listing: Listing<Stored, Shown>,
  organizationId: string,
  asked: FilteredQuery,
  keys: Key[],
): Promise<Shown[] | null> {
  // PostgreSQL fails on an invalid uuid.
  const possible = keys.filter(
    ({ column, value }) => listing.places[column]?.isId !== true || isUuid(value),
  );
  if (possible.length === 0) return [];
  // People may share an address, but no two rows share an id or a name.
  const most = few + possible.length;
  const { sql, bind } = composeFound(listing, organizationId, asked, possible, most);
  const constant = isOneKey(asked, possible) && asked.sortBy === undefined;
  const rows = await select<Stored & { id: string | null }>(
    sql,
    bind,
    constant ? { prepared: true } : undefined,
  );
  if (rows.length > most) return null;
  return rows.filter(({ id }) => id !== null).map(listing.read);
}

/**
 * The statement of `readFound`: a row for each record with any of the keys, empty if the record
 * does not match. The join fixes the order of the tables. Otherwise SQLite scans the list in its
 * order, or an index for each organization.
 */
export function composeFound(
  listing: AnyListing,
  organizationId: string,
  asked: FilteredQuery,
  keys: Key[],
  most: number,
): Query {
  // The records of one key are the matches. PostgreSQL would plan the condition for nothing.
  const filter = isOneKey(asked, keys) ? null : asked.filter;
  const { condition, bind, order } = compose(listing, organizationId, { ...asked, filter });
  const found = keys.flatMap(({ column, value }) => {
    const place = listing.places[column];
    if (place === undefined) return [];
    const { from, by, row, stored = (text: string) => text } = place;
    const given = bind.push(stored(value));
    return [`SELECT ${row} FROM ${from} WHERE organization_id = $1 AND ${by} = $${given}`];
  });
  return {
    sql: `WITH found(id) AS MATERIALIZED (${found.join(' UNION ')} LIMIT ${most + 1})
      SELECT ${listing.columns} FROM found LEFT JOIN ${listing.table} r
        ON r.id = found.id AND r.organization_id = $1 AND ${listing.visible} AND ${condition}
      ${order}`,
    bind,
  };
}

/** Whether the filter is one comparison that an index answers; an id is also compared by case. */
function isOneKey({ filter }: FilteredQuery, [key]: Key[]): boolean {
  return filter?.kind === 'compare' && key?.column !== 'id';
}
