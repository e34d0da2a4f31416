import type { Actor, Context } from '../../context.ts';
import { orderedId } from '../../crypto/id.ts';
import type { EventActor, EventSubject } from '../../database/models/event.ts';
import { fanOut } from '../webhooks/delivery/fan-out.ts';

/** What is written of something that happened. */
export interface Happening {
  /** Dotted, in the specification's style: `scim.user.provisioned`. */
  kind: string;
  /** The organization it happened in, if any. */
  organizationId?: string | null;
  subject?: EventSubject;
  data?: Record<string, unknown>;
}

/**
 * Writes what happened, and what webhooks are to be sent of it; call it inside the transaction that does it, so that
 * all of it is kept or nothing.
 */
export async function recordEvent(ctx: Context, what: Happening, id: string = orderedId()): Promise<void> {
  const { kind, organizationId = null, subject = null, data = {} } = what;
  const event = { id, kind, at: ctx.now, actor: viewActor(ctx.actor), subject, data };
  await fanOut({ ...event, organizationId });
}

function viewActor(actor: Actor): EventActor {
  switch (actor.kind) {
    case 'user':
      return { kind: 'user', id: actor.accountId, name: actor.name };
    case 'app':
      return { kind: 'app', id: actor.appId, name: actor.name };
    case 'anonymous':
      return { kind: 'anonymous' };
    default:
      return { kind: actor.kind, name: actor.name };
  }
}
