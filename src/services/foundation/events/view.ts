import type { Event, EventActor } from '../../../database/models/event.ts';

/** An event as organizations read it, with the fields in the order of the documentation; webhooks are sent the same. */
export function viewEvent(event: Pick<Event, 'id' | 'kind' | 'at' | 'actor' | 'subject' | 'data'>) {
  const { id, kind, at, actor, subject, data } = event;
  return { id, kind, at: at.toISOString(), actor: withoutSystemAccount(actor), subject, data };
}

/** The system account that the operator used on the host is for the operator alone (security X9). */
function withoutSystemAccount(actor: EventActor): EventActor {
  return actor.kind === 'operator' ? { kind: 'operator', name: 'operator' } : actor;
}
