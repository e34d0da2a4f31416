import { select } from '../../../database/select.ts';
import { firstKey } from '../page.ts';
import { expressions } from './person.sql.ts';
import { columns, readings, type StoredEvent } from './stored.sql.ts';

// The SQL of the lists of events.

/** Which events to list: those between two ids, without the events of these ids. */
export interface Wanted {
  /** The organization of the events; null for all events of the instance. */
  organizationId: string | null;
  kinds: readonly string[] | null;
  /** The account, app or address that the events are about, or that caused them. */
  key: string | null;
  after: string | null;
  before: string | null;
}

/** Finds the first events of the list, or the last ones with `newestFirst`. */
export function findEvents(
  wanted: Wanted,
  { newestFirst = false, limit }: { newestFirst?: boolean; limit: number },
): Promise<StoredEvent[]> {
  const bind: string[] = [];
  const parameter = (value: string) => `$${bind.push(value)}`;
  const order = `ORDER BY id ${newestFirst ? 'DESC' : 'ASC'} LIMIT ${limit}`;
  const all = betweenIds(wanted, parameter);
  const parts = partsOf(wanted, parameter).map(
    (part) => `SELECT ${columns} FROM events WHERE ${[...part, ...all].join(' AND ')} ${order}`,
  );
  const [one = ''] = parts;
  // Each part is read in the order of an index. A single query would read and sort the whole list.
  const sql =
    parts.length === 1
      ? one
      : `${parts.map((each) => `SELECT * FROM (${each}) part`).join(' UNION ALL ')} ${order}`;
  return select<StoredEvent>(sql, bind, { columns: readings });
}

type Parameter = (value: string) => string;

function betweenIds({ organizationId, after, before }: Wanted, parameter: Parameter): string[] {
  return [
    ...(organizationId === null ? [] : [`organization_id = ${parameter(organizationId)}`]),
    `id > ${parameter(after ?? firstKey)}`,
    ...(before === null ? [] : [`id < ${parameter(before)}`]),
  ];
}

/** The conditions of each part of the list. No event is in two parts. */
function partsOf({ organizationId, kinds, key }: Wanted, parameter: Parameter): string[][] {
  // The index of an organization's kinds has an order of ids for each kind.
  if (key === null && kinds !== null && organizationId !== null)
    return kinds.map((kind) => [`kind = ${parameter(kind)}`]);
  const ofKinds = kinds === null ? [] : [`kind IN (${kinds.map(parameter).join(', ')})`];
  if (key === null) return [ofKinds];
  const { about, caused } = expressions;
  const is = parameter(key);
  return [
    [`${about} = ${is}`, ...ofKinds],
    [`${caused} = ${is}`, `COALESCE(${about}, '') <> ${is}`, ...ofKinds],
  ];
}
