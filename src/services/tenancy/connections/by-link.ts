import type { Context } from '../../../context.ts';
import { refuseField } from '../../../errors.ts';

/**
 * Refuses a setup link that changes one of these settings while the connection is on: people would
 * lose roles, or could not sign in (security O13).
 */
export function requireKeptByLink<Name extends string>(
  { actor }: Pick<Context, 'actor'>,
  stored: (Record<Name, unknown> & { enabled: boolean }) | null,
  given: Record<Name, unknown>,
  names: readonly Name[],
): void {
  if (actor.kind !== 'setupLink' || stored?.enabled !== true) return;
  const changed = names.find((name) => given[name] !== stored[name]);
  if (changed === undefined) return;
  throw refuseField(
    changed,
    'cannot be changed with a setup link while the connection is on',
    'Ask an admin of the organization to change it.',
  );
}
