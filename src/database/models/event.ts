import { column, rowOf } from './columns.ts';

/** The actor of an event. */
export interface EventActor {
  kind: 'operator' | 'user' | 'app' | 'scim' | 'system' | 'anonymous';
  id?: string;
  name?: string;
}

/** The subject of an event. */
export interface EventSubject {
  type: string;
  id: string;
  name?: string;
}

/** An event, written in the transaction that caused it. */
export class Event extends rowOf(
  'events',
  {
    id: column.key(),
    kind: column.string(),
    at: column.date(),
    /** The organization of the event. Kept when that organization is deleted. */
    organizationId: column.optional(column.uuid()),
    actor: column.json<EventActor>(),
    subject: column.optional(column.json<EventSubject>()),
    data: column.json<Record<string, unknown>>(),
  },
  () => [column.index('events_organization_id', ['organization_id', 'id'])],
) {}
