import { idOfInstant, millisecondOf } from '../../../crypto/id.ts';
import { textCondition } from '../../../database/dialect-sql.ts';
import { dialectOfDatabase, select } from '../../../database/select.ts';
import { eventKinds, eventNames } from './kinds.ts';
import { referencesIn, windowSeconds } from './record.ts';
import { columns, readings, type StoredEvent } from './stored.sql.ts';

// The SQL that finds events by the reference of a request.

/** The kinds of events that keep references. */
const counted = eventNames.filter((name) => 'references' in eventKinds[name].data.shape);

/** How long a request and the writing of its rows can take, and how far clocks can differ. */
const marginMs = 300_000;

const lastMillisecond = 2 ** 48 - 1;

/**
 * The bounds of the ids of the rows that the request can have written. A reference is a UUIDv7, so
 * it contains the time of the request. An event can be older, as it counts repeats.
 */
export function idsAround(reference: string): { after: string; before: string } {
  const at = millisecondOf(reference);
  const after = Math.max(0, at - windowSeconds * 1000 - marginMs);
  const before = Math.min(lastMillisecond, at + marginMs);
  return { after: idOfInstant(after), before: idOfInstant(before) };
}

/**
 * The events that keep this reference, oldest first: at most a few. Reads only the events of about
 * 25 minutes, by the primary key. With an organization, omits those of other organizations.
 */
export async function findByReference(
  reference: string,
  organizationId: string | null,
): Promise<StoredEvent[]> {
  const { after, before } = idsAround(reference);
  const kinds = counted.map((kind) => `'${kind}'`).join(', ');
  const has = textCondition(dialectOfDatabase(), 'CAST(data AS TEXT)', 'co', '$3');
  const rows = await select<StoredEvent>(
    `SELECT ${columns} FROM events
      WHERE id > $1 AND id < $2 AND kind IN (${kinds}) AND ${has}
      ${organizationId === null ? '' : 'AND (organization_id = $4 OR organization_id IS NULL)'}`,
    [after, before, reference, ...(organizationId === null ? [] : [organizationId])],
    { columns: readings },
  );
  // An id elsewhere in the data can be the same text.
  const found = rows.filter(({ data }) => referencesIn(data).includes(reference));
  return found.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}
