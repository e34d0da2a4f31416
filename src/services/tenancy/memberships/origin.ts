import type { Actor } from '../../../context.ts';
import type { Origin } from '../../../database/models/membership.ts';

/** The origin of a membership that somebody makes by hand. */
export function byHand(actor: Actor): Origin {
  return actor.kind === 'user' ? { kind: 'manual', by: actor.accountId } : { kind: 'operator' };
}
