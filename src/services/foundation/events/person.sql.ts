import { about, actorId, type Event } from '../../../database/models/event.ts';
import { select } from '../../../database/select.ts';

// The SQL that finds the events of a person by index.

/** `about`: the event is about the key. `caused`: the key caused it. */
export type By = 'about' | 'caused';

const expressions: Record<By, string> = { about, caused: actorId };

type Found = Pick<Event, 'id' | 'kind' | 'at' | 'organizationId' | 'actor' | 'subject' | 'data'>;

const columns = 'id, kind, at, organization_id AS "organizationId", actor, subject, data';
const kinds = { at: 'time', actor: 'json', subject: 'json', data: 'json' } as const;

/**
 * The next events after `last`, in the order of their ids: those about the key, or those that it
 * caused outside organizations.
 */
export function findFurther(by: By, key: string, last: string, limit: number): Promise<Found[]> {
  const outside = by === 'caused' ? 'AND organization_id IS NULL' : '';
  return select<Found>(
    `SELECT ${columns} FROM events WHERE ${expressions[by]} = $1 AND id > $2 ${outside}
      ORDER BY id LIMIT ${limit}`,
    [key, last],
    { columns: kinds },
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
): Promise<Found[]> {
  const theirs = organizationIds.map((_, at) => `$${at + 3}`).join(', ');
  const also = theirs === '' ? '' : `OR organization_id IN (${theirs})`;
  return select<Found>(
    `SELECT ${columns} FROM events WHERE ${expressions[by]} = $1
      AND id < $2 AND (organization_id IS NULL ${also}) ORDER BY id DESC LIMIT ${limit}`,
    [key, before, ...organizationIds],
    { columns: kinds },
  );
}
