import type { Event } from '../../../database/models/event.ts';

/** An event as stored, with the id of its organization. */
export type StoredEvent = Pick<
  Event,
  'id' | 'kind' | 'at' | 'organizationId' | 'actor' | 'subject' | 'data'
>;

/** The columns of a `StoredEvent` in SQL. */
export const columns = 'id, kind, at, organization_id AS "organizationId", actor, subject, data';

/** How these columns are read. */
export const readings = { at: 'time', actor: 'json', subject: 'json', data: 'json' } as const;
