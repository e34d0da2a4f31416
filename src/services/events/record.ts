import type { Actor, Context } from '../../context.ts';
import { orderedId } from '../../crypto/id.ts';
import { insertRow } from '../../database/execute.ts';
import type { EventActor, EventSubject } from '../../database/models/event.ts';

/** What is written of something that happened. */
export interface Happening {
  /** Dotted, in the specification's style: `scim.user.provisioned`. */
  kind: string;
  /** The organization it happened in, if any. */
  organizationId?: string | null;
  subject?: EventSubject;
  data?: Record<string, unknown>;
}

/** Writes what happened; call it inside the transaction that does it, so that both are kept or neither. */
export async function recordEvent(ctx: Context, what: Happening, id: string = orderedId()): Promise<void> {
  await insertRow('events', {
    id,
    kind: what.kind,
    at: ctx.now,
    organization_id: what.organizationId ?? null,
    actor: viewActor(ctx.actor),
    subject: what.subject ?? null,
    data: what.data ?? {},
  });
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
