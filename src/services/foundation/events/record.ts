import type { Actor, Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import type { EventActor, EventSubject } from '../../../database/models/event.ts';
import { nameShownIn } from '../authority/shown.ts';
import { fanOut } from './fan-out.ts';
import type { EventData, EventName } from './kinds.ts';

/** What is written of something that happened, of one kind or another. */
export type Happening = { [Name in EventName]: HappeningOf<Name, EventData<Name>> }[EventName];

/** What is written of what happens again and again; the tally adds how often and for which requests. */
export type Recurring = {
  [Name in EventName]: HappeningOf<Name, Omit<EventData<Name>, 'count' | 'lastAt' | 'references'>>;
}[EventName];

interface About<Name> {
  kind: Name;
  /** The organization it happened in, if any. */
  organizationId?: string | null;
  subject?: EventSubject;
}

/** What a kind says has to be said, unless all of it may be left out. */
type HappeningOf<Name, Data> = About<Name> &
  (Record<never, never> extends Data ? { data?: Data } : { data: Data });

/**
 * Writes what happened, and what webhooks are to be sent of it; call it inside the transaction that does it, so that
 * all of it is kept or nothing.
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

/** Who acts, in an organization by the name that it knows them by (security I4). */
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
