import type { ConnectionKindName } from '../../../connection-kinds.ts';
import { type Finding, right } from '../../../finding.ts';
import type { Next, Todo } from '../../../next.ts';
import { isApproved } from './approval.ts';

/** The finding about a connection that no owner has approved; null if one has (security I8). */
export function findWaiting(
  connection: { approved: boolean },
  kind: ConnectionKindName,
  slug: string,
): (Finding & { hint: Next }) | null {
  if (isApproved(connection)) return null;
  const hint: Next = [
    'Until then, no owner can sign in through it. An owner approves it on the account page.',
    approvedByOperator(kind, slug),
  ];
  return { ...right("is waiting for an owner's approval"), hint };
}

/** The operator's way to approve the connection. */
export function approvedByOperator(kind: ConnectionKindName, org: string): Todo {
  return {
    say: 'Or the operator approves it',
    by: 'operator',
    operation: `${kind}.approve`,
    with: { org },
  };
}

/**
 * Whether a test takes all settings from the stored connection; the fields in `besides` are not
 * settings.
 */
export function testsStored(input: Record<string, unknown>, besides: string[] = []): boolean {
  const own = ['org', ...besides];
  return Object.entries(input).every(([name, value]) => value === undefined || own.includes(name));
}
