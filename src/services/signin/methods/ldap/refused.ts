import type { Context } from '../../../../context.ts';
import type { LdapConnection } from '../../../../database/models/ldap-connection.ts';
import { transaction } from '../../../../database/transaction.ts';
import type { Refusal } from '../../../../errors.ts';
import { tallyEvent } from '../../../foundation/events/tally.ts';
import type { Person } from './person.ts';

/**
 * Writes down a sign-in that was refused: one counted event per connection, reason and entry in a quarter of an hour;
 * who is in no directory counts as one (security X5).
 */
export async function recordRefused(
  ctx: Context,
  connection: LdapConnection,
  { reason, person }: { reason: string; person: Person | null },
): Promise<void> {
  const data = { reason, ...(person === null ? {} : { entry: person.dn }) };
  const what = { kind: 'ldap.signin.refused' as const, ...about(connection), data };
  const apart = `${reason} ${person?.subject ?? ''}`;
  await transaction(() => tallyEvent(ctx, what, { of: connection.id, apart }));
}

/** Writes down that a directory could not be talked with, in its own words for the organization's admins. */
export async function recordUnreached(
  ctx: Context,
  connection: LdapConnection,
  { message, code, extra }: Refusal,
): Promise<void> {
  const reason = String(extra['reason'] ?? code);
  const what = { kind: 'ldap.directory.failed' as const, ...about(connection), data: { reason, message } };
  await transaction(() => tallyEvent(ctx, what, { of: connection.id, apart: reason }));
}

function about({ id, organizationId, uri }: LdapConnection) {
  return { organizationId, subject: { type: 'ldap', id, name: uri } };
}
