import PQueue from 'p-queue';
import { OutOfTime } from '../../../../database/select-within.ts';
import { queueForEach, waitForTurn } from '../../../../host/queue.ts';
import { scimRefusal } from '../../../foundation/scim-user/refusal.ts';
import { keysOf } from '../filter-keys.ts';
import { composeQueries, type FilteredQuery, readFilteredPage, readFound } from './filtered.sql.ts';
import type { Listing } from './listing.sql.ts';

const budgetMs = 2000;

// One slow read per organization runs at a time, and only three in all. So the filters of one
// client cannot delay another client for long, or use all connections to PostgreSQL.
const ofOrganization = queueForEach();
const slowReads = new PQueue({ concurrency: 3 });

/**
 * Waits for the organization's turn and for a free slot, then runs the read. Throws `OutOfTime` if
 * the deadline `until` passes first.
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
 * A page of a filtered or sorted list, and the total. If an index finds few rows, they are read
 * immediately. Other queries may scan all rows, so they run in a queue. After 2 s they are refused with
 * 400 `tooMany`.
 */
export async function readFiltered<Row extends object>(
  listing: Listing<Row>,
  organizationId: string,
  asked: FilteredQuery,
): Promise<{ total: number; records: Row[] }> {
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
      readFilteredPage<Row>(asked, queries, until),
    );
    return { total, records: rows };
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
    const byKeys =
      listing.names.kind === 'User'
        ? 'userName, externalId or e-mail'
        : 'displayName or externalId';
    throw scimRefusal(400, 'tooMany', `The query takes too long. Filter by ${byKeys}.`);
  }
}
