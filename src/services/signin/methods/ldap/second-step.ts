import type { Context } from '../../../../context.ts';
import { LdapConnection } from '../../../../database/models/ldap-connection.ts';
import { signInFailed } from '../../../people/sessions/failed.ts';
import type { SecondFactor } from '../../../people/two-factor/answer.ts';
import { syncDirectoryGroups } from '../../../provisioning/mappings/reconcile.ts';
import type { Arrival } from '../../pending.ts';
import { enterOnce } from './admit.ts';

/** What a person proved at a directory leads to once the code is there, if it is still the same directory. */
export async function enterByDirectory(
  ctx: Context,
  { connection: seen, person }: Arrival & { by: 'ldap' },
  secondFactor: SecondFactor | null,
) {
  const session = await enterOnce(ctx, seen, person, secondFactor);
  const connection = await LdapConnection.findByPk(seen.id);
  if (connection === null) throw signInFailed('connection_changed');
  await syncDirectoryGroups(ctx, connection, session.user.id, person.groups);
  return session;
}
