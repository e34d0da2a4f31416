import type { Actor } from '../../../context.ts';

/** The session of the actor's credential; null for tokens and for actors that are no user. */
export function ownSessionOf(actor: Actor): string | null {
  return actor.kind === 'user' && actor.via === 'session' ? actor.sessionId : null;
}
