import type { Event } from '../../database/models/event.ts';

/** What an event says, with the fields in the order of the documentation; also what webhooks are sent. */
export function viewEvent(event: Pick<Event, 'id' | 'kind' | 'at' | 'actor' | 'subject' | 'data'>) {
  const { id, kind, at, actor, subject, data } = event;
  return { id, kind, at: at.toISOString(), actor, subject, data };
}
