import type { Actor, Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import type { EventActor, EventSubject } from '../../../database/models/event.ts';
import { nameShownIn } from '../authority/shown.ts';
import { fanOut } from './fan-out.ts';
import type { EventData, EventName } from './kinds.ts';

/** An event to record, of any kind. */
export type Happening = { [Name in EventName]: HappeningOf<Name, EventData<Name>> }[EventName];

/** A recurring event to record. The tally adds how often, and for which requests. */
export type Recurring = {
  [Name in EventName]: HappeningOf<Name, Omit<EventData<Name>, 'count' | 'lastAt' | 'references'>>;
}[EventName];

interface About<Name> {
  kind: Name;
  /** The organization of the event, if any. */
  organizationId?: string | null;
  subject?: EventSubject;
}

/** `data` is required unless every field of the kind is optional. */
type HappeningOf<Name, Data> = About<Name> &
  (Record<never, never> extends Data ? { data?: Data } : { data: Data });

/**
 * Records an event and the webhook deliveries for it. Call it inside the transaction that causes
 * the event, so that both are kept or neither.
 */
export async function recordEvent(
  ctx: Context,
  what: Happening,
  id: string = orderedId(),
): Promise<void> {
  const { kind, organizationId = null, subject = null, data = {} } = what;
  const event = {
    id,
    kind,
    at: ctx.now,
    actor: await viewActor(ctx.actor, organizationId),
    subject,
    data,
  };
  await fanOut({ ...event, organizationId });
}

/** The actor; in an organization, under the name that it knows (security I4). */
async function viewActor(actor: Actor, organizationId: string | null): Promise<EventActor> {
  switch (actor.kind) {
    case 'user': {
      const name = organizationId === null ? actor.name : await nameShownIn(organizationId, actor);
      return { kind: 'user', id: actor.accountId, name };
    }
    case 'app':
      return { kind: 'app', id: actor.appId, name: actor.name };
    case 'anonymous':
      return { kind: 'anonymous' };
    default:
      return { kind: actor.kind, name: actor.name };
  }
}
