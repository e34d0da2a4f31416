import type { Actor } from '../../../context.ts';

/** The session that the actor's credential belongs to; null for tokens and for whoever is no user. */
export function ownSessionOf(actor: Actor): string | null {
  return actor.kind === 'user' && actor.via === 'session' ? actor.sessionId : null;
}
