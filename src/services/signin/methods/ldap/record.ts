import type { Context } from '../../../../context.ts';
import type { LdapConnection } from '../../../../database/models/ldap-connection.ts';
import { transaction } from '../../../../database/transaction.ts';
import { Refusal } from '../../../../errors.ts';
import type { Reason } from '../../../../reasons.ts';
import { tallyEvent } from '../../../foundation/events/record.ts';
import { aboutLdap } from '../../../tenancy/connections/ldap.ts';
import { ownerRefused } from '../../../tenancy/connections/owners.ts';
import type { DirectoryPerson } from '../../../tenancy/ldap/find-person.ts';

// The events of failed sign-ins through a directory.

/**
 * Records a refused sign-in. Within 15 minutes, a repetition only raises the count of the event of
 * its connection, reason and entry. All user names without an entry count as one (security X5).
 */
export async function recordRefusedByDirectory(
  ctx: Context,
  connection: LdapConnection,
  { reason, person }: { reason: Reason; person: DirectoryPerson | null },
): Promise<void> {
  const data = { reason, ...(person === null ? {} : { entry: person.dn }) };
  const kind = reason === ownerRefused ? 'ldap.owner.refused' : 'ldap.signin.refused';
  const what = { kind, ...aboutLdap(connection), data } as const;
  const apart = `${reason} ${person?.subject ?? ''}`;
  await transaction(() => tallyEvent(ctx, what, { of: connection.id, apart }));
}

/**
 * Records a directory that could not be used. Returns the error that the person sees: only
 * admins learn where the directory is (security L7).
 */
export async function reportDirectory(ctx: Context, connection: LdapConnection, error: unknown) {
  if (!(error instanceof Refusal) || error.kind !== 'upstream') return error;
  await recordUnreached(ctx, connection, error);
  return new Refusal('upstream_failed', 'The directory could not be used.', {
    hint: 'Try again later, or ask your administrator.',
    cause: error,
  });
}

/** Records in detail, for the organization's admins, why the directory could not be used. */
async function recordUnreached(
  ctx: Context,
  connection: LdapConnection,
  { message, code, failure }: Refusal,
): Promise<void> {
  const reason = failure?.reason ?? code;
  const what = {
    kind: 'ldap.directory.failed' as const,
    ...aboutLdap(connection),
    data: { reason, message },
  };
  await transaction(() => tallyEvent(ctx, what, { of: connection.id, apart: reason }));
}
