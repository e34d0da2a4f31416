import type { Columns } from '../../../../database/columns.ts';
import { dialectOfDatabase, selectAs } from '../../../../database/select.ts';
import { type Query, selectWithin, whileInTime } from '../../../../database/select-within.ts';
import { isUuid } from '../../../foundation/fields.ts';
import { filterCondition } from '../filter.sql.ts';
import type { Filter } from '../filter.ts';
import type { Key } from '../filter-keys.ts';
import { sortExpression } from '../sort.sql.ts';
import type { Listing } from './listing.sql.ts';

// The SQL of filtered and sorted lists.

/** A list with a filter or a sort order. */
export interface FilteredQuery {
  filter: Filter | null;
  sortBy: string | undefined;
  descending: boolean;
  from: number;
  count: number;
}

/** The statements for a page and the total. */
interface Queries {
  page: Query;
  count: Query;
}

/** A page and the total. Throws `OutOfTime` at the deadline `until`. */
export async function readFilteredPage<Row extends object>(
  { from, count }: FilteredQuery,
  queries: Queries,
  until: number,
): Promise<{ total: number; rows: Row[] }> {
  const read = <R extends object>(query: Query) =>
    selectWithin<R>(until - performance.now(), query);
  const rows = count === 0 ? [] : await read<Row>(queries.page);
  // A page that is not full is the last one, so the total is known.
  if (rows.length < count && (rows.length > 0 || from === 0))
    return { total: from + rows.length, rows };
  const [counted] = await read<{ total: number }>(queries.count);
  return { total: counted?.total ?? 0, rows };
}

type AnyListing = Omit<Listing<object>, 'kinds'> & { kinds: Columns };

/**
 * The statements for a page and the total. Both stop when the time is over. Refuses an attribute
 * that cannot be a sort key.
 */
export function composeQueries(
  listing: AnyListing,
  organizationId: string,
  asked: FilteredQuery,
): Queries {
  const { table, columns, kinds } = listing;
  const { condition, bind, order } = compose(listing, organizationId, asked);
  const where = `r.organization_id = $1 AND ${listing.visible}
    AND ${whileInTime()} AND ${condition}`;
  return {
    page: {
      // Resources can be large. Only the resources of the page are read, after sorting.
      sql: `SELECT ${columns} FROM (
          SELECT r.id FROM ${table} r WHERE ${where} ${order}
           LIMIT $${bind.length + 1} OFFSET $${bind.length + 2}) page
        JOIN ${table} r ON r.id = page.id ${order}`,
      bind: [...bind, asked.count, asked.from],
      columns: kinds,
    },
    count: { sql: `SELECT count(*) AS total FROM ${table} r WHERE ${where}`, bind },
  };
}

/** The condition and the order on `r`, and the values of the first parameters. */
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

/** All matches among the rows with one of the keys. Null if there are too many such rows. */
export async function readFound<Row extends object>(
  listing: Listing<Row>,
  organizationId: string,
  asked: FilteredQuery,
  keys: Key[],
): Promise<Row[] | null> {
  // PostgreSQL fails on an invalid UUID.
  const possible = keys.filter(
    ({ column, value }) => listing.places[column]?.isId !== true || isUuid(value),
  );
  if (possible.length === 0) return [];
  // Several rows may share an e-mail address or an external id, but ids and names are unique.
  const max = few + possible.length;
  const { sql, bind } = composeFound(listing, organizationId, asked, possible, max);
  const constant = isOneKey(asked, possible) && asked.sortBy === undefined;
  const rows = await selectAs<Row & { id: string | null }>(sql, bind, {
    ...(constant && { prepared: true }),
    columns: listing.kinds,
  });
  if (rows.length > max) return null;
  return rows.filter(({ id }) => id !== null);
}

/**
 * The statement of `readFound`. It returns a row for each record with one of the keys, with NULLs
 * if the record does not match. The join fixes the order of the tables. Otherwise SQLite might read
 * all records of the organization.
 */
export function composeFound(
  listing: AnyListing,
  organizationId: string,
  asked: FilteredQuery,
  keys: Key[],
  max: number,
): Query {
  // If the filter is one comparison that the index answers, every record found matches it.
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
    sql: `WITH found(id) AS MATERIALIZED (${found.join(' UNION ')} LIMIT ${max + 1})
      SELECT ${listing.columns} FROM found LEFT JOIN ${listing.table} r
        ON r.id = found.id AND r.organization_id = $1 AND ${listing.visible} AND ${condition}
      ${order}`,
    bind,
  };
}

/** Whether the filter is one comparison that an index answers. Ids also need a check of case. */
function isOneKey({ filter }: FilteredQuery, [key]: Key[]): boolean {
  return filter?.kind === 'compare' && key?.column !== 'id';
}
