import type { Context } from '../../../../context.ts';
import type { LdapConnection } from '../../../../database/models/ldap-connection.ts';
import { transaction } from '../../../../database/transaction.ts';
import { Refusal } from '../../../../errors.ts';
import { tallyEvent } from '../../../foundation/events/record.ts';
import { inWordsOf } from '../../../people/sessions/sign-in.ts';
import type { DirectoryPerson } from './person.ts';

/**
 * Records a refused sign-in: one counted event per connection, reason and entry in a quarter of an
 * hour. All user names without an entry count as one (security X5).
 */
export async function recordRefusedByDirectory(
  ctx: Context,
  connection: LdapConnection,
  { reason, person }: { reason: string; person: DirectoryPerson | null },
): Promise<void> {
  const data = { reason, ...(person === null ? {} : { entry: person.dn }) };
  const what = { kind: 'ldap.signin.refused' as const, ...about(connection), data };
  const apart = `${reason} ${person?.subject ?? ''}`;
  await transaction(() => tallyEvent(ctx, what, { of: connection.id, apart }));
}

/**
 * The error that the person sees. Only the organization's admins learn where the directory is and
 * why it could not be reached (security L7).
 */
export async function toldOfDirectory(
  ctx: Context,
  connection: LdapConnection,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof Refusal) || error.kind !== 'upstream') return inWordsOf('ldap', error);
  await recordUnreached(ctx, connection, error);
  return new Refusal('upstream_failed', 'The directory could not be reached.', {
    hint: 'Try again later, or ask your administrator.',
    cause: error,
  });
}

/**
 * Records that a directory could not be reached, with the detailed message for the organization's
 * admins.
 */
async function recordUnreached(
  ctx: Context,
  connection: LdapConnection,
  { message, code, extra }: Refusal,
): Promise<void> {
  const reason = String(extra['reason'] ?? code);
  const what = {
    kind: 'ldap.directory.failed' as const,
    ...about(connection),
    data: { reason, message },
  };
  await transaction(() => tallyEvent(ctx, what, { of: connection.id, apart: reason }));
}

function about({ id, organizationId, uri }: LdapConnection) {
  return { organizationId, subject: { type: 'ldap', id, name: uri } };
}
