import { literal } from 'sequelize';
import { column, rowOf } from './columns.ts';

/** The person, program or system that caused an event. */
export interface EventActor {
  kind: 'operator' | 'user' | 'app' | 'scim' | 'setupLink' | 'system' | 'anonymous';
  id?: string;
  name?: string;
}

/** The person or object that an event is about. */
export interface EventSubject {
  type: string;
  id: string;
  name?: string;
}

/**
 * What an event is about: the account that its data names, else its subject, else an address. The
 * database uses the index only for exactly this expression.
 */
export const about = `COALESCE(data ->> 'account', subject ->> 'id', data ->> 'email')`;
/** The account or app that caused the event, for an index of its own. */
export const actorId = `actor ->> 'id'`;

/** An event. It is written in the transaction that it reports. */
export class Event extends rowOf(
  'events',
  {
    id: column.key(),
    kind: column.string(),
    at: column.date(),
    /** The id of the event's organization. It stays when the organization is deleted. */
    organizationId: column.optional(column.uuid()),
    actor: column.json<EventActor>(),
    subject: column.optional(column.json<EventSubject>()),
    data: column.json<Record<string, unknown>>(),
  },
  () => [
    column.index('events_organization_id', ['organization_id', 'id']),
    column.index(
      'events_kind',
      ['organization_id', 'kind', 'id'],
      literal('organization_id IS NOT NULL'),
    ),
    column.index('events_about', [literal(`(${about})`), 'id']),
    column.index(
      'events_actor',
      [literal(`(${actorId})`), 'id'],
      literal(`(${actorId}) IS NOT NULL`),
    ),
  ],
) {}
