import { about, actorId } from '../../../database/models/event.ts';
import { select } from '../../../database/select.ts';
import { columns, readings, type StoredEvent } from './stored.sql.ts';

// The SQL that finds the events of a person by index.

/** `about`: the event is about the key. `caused`: the key caused it. */
export type By = 'about' | 'caused';

/** The SQL of the keys. */
export const expressions: Record<By, string> = { about, caused: actorId };

/**
 * The next events after `last`, in the order of their ids: those about the key, or those that it
 * caused outside organizations.
 */
export function findFurther(
  by: By,
  key: string,
  last: string,
  limit: number,
): Promise<StoredEvent[]> {
  const outside = by === 'caused' ? 'AND organization_id IS NULL' : '';
  return select<StoredEvent>(
    `SELECT ${columns} FROM events WHERE ${expressions[by]} = $1 AND id > $2 ${outside}
      ORDER BY id LIMIT ${limit}`,
    [key, last],
    { columns: readings },
  );
}

/**
 * The newest events before the id `before`, outside organizations and of these organizations, newest
 * first.
 */
export function findNewest(
  by: By,
  key: string,
  { organizationIds, before, limit }: { organizationIds: string[]; before: string; limit: number },
): Promise<StoredEvent[]> {
  const theirs = organizationIds.map((_, at) => `$${at + 3}`).join(', ');
  const also = theirs === '' ? '' : `OR organization_id IN (${theirs})`;
  return select<StoredEvent>(
    `SELECT ${columns} FROM events WHERE ${expressions[by]} = $1
      AND id < $2 AND (organization_id IS NULL ${also}) ORDER BY id DESC LIMIT ${limit}`,
    [key, before, ...organizationIds],
    { columns: readings },
  );
}
