import { dialectOfDatabase, select } from '../../../database/select.ts';
import { OutOfTime, type Query, selectWithin, whileInTime } from '../../../database/select-within.ts';
import type { Filter } from '../filter.ts';
import { filterCondition } from '../filter-sql.ts';
import { columns, type Entry, entryOf, type Row } from '../records/record.ts';
import { scimRefusal } from '../refusal.ts';
import { sortExpression } from '../sort.ts';
import { inTurn } from './turns.ts';

/** A list that is not simply the whole one in its own order. */
export interface Asked {
  filter: Filter | null;
  sortBy: string | undefined;
  descending: boolean;
  from: number;
  count: number;
}

const budgetMs = 2000;

/**
 * A page of a filtered or sorted list, and how many there are in all. What an index answers is answered at once; the
 * rest may look at every record, so it is read aside, in turn and within 2 s, or refused with 400 `tooMany`.
 */
export async function readFiltered(
  organizationId: string,
  asked: Asked,
): Promise<{ total: number; records: Entry[] }> {
  const query = compose(organizationId, asked);
  if (query.indexed) return readPage(asked, query, (given) => select(given.sql, given.bind));
  const until = performance.now() + budgetMs;
  try {
    return await inTurn(organizationId, until, () =>
      readPage(asked, query, (given) => selectWithin(until - performance.now(), given)),
    );
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
    throw scimRefusal(400, 'tooMany', 'The filter takes too long; ask by userName, externalId or e-mail.');
  }
}

interface Composed {
  page: Query;
  count: Query;
  indexed: boolean;
}

type Read = <R extends object>(query: Query) => Promise<R[]>;

async function readPage({ from, count }: Asked, query: Composed, read: Read) {
  const rows = count === 0 ? [] : await read<Row>(query.page);
  const records = rows.map(entryOf);
  // A page that is not full ends the list, and says so how long that is.
  if (rows.length < count && (rows.length > 0 || from === 0)) return { total: from + rows.length, records };
  const [counted] = await read<{ total: number | string }>(query.count);
  return { total: Number(counted?.total ?? 0), records };
}

function compose(organizationId: string, { filter, sortBy, descending, from, count }: Asked): Composed {
  const dialect = dialectOfDatabase();
  const order = sortBy === undefined ? null : sortExpression(sortBy, dialect);
  const condition = filter === null ? null : filterCondition(filter, { dialect, first: 3, organization: 1 });
  // To sort is to read every record that is meant.
  const indexed = condition?.indexed === true && order === null;
  const where = [
    'r.organization_id = $1 AND r.hidden = $2',
    indexed ? 'true' : whileInTime(dialect),
    condition?.sql ?? 'true',
  ].join(' AND ');
  const bind = [organizationId, false, ...(condition?.bind ?? [])];
  const direction = descending ? 'DESC NULLS FIRST' : 'ASC NULLS LAST';
  const first = order === null ? '' : `${order} ${direction}, `;
  return {
    page: {
      sql: `SELECT ${columns} FROM scim_records r WHERE ${where}
        ORDER BY ${first}r.created_at, r.id LIMIT $${bind.length + 1} OFFSET $${bind.length + 2}`,
      bind: [...bind, count, from],
    },
    count: { sql: `SELECT count(*) AS total FROM scim_records r WHERE ${where}`, bind },
    indexed,
  };
}
