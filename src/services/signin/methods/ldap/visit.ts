import type { Context } from '../../../../context.ts';
import type { LdapConnection } from '../../../../database/models/ldap-connection.ts';
import { Refusal } from '../../../../errors.ts';
import { entryLimit } from '../../../foundation/limits/ldap.ts';
import { type Limit, spend } from '../../../foundation/limits/limit.ts';
import { signInFailed } from '../../../people/sessions/sign-in.ts';
import { openBindPassword } from '../../../tenancy/ldap/connection.ts';
import { tryingBind } from './bind-tries.ts';
import { type DirectoryPerson, onePerson, personQuery } from './person.ts';

/**
 * Asks the directory for the user name, then whether the password is right (spec §4.2 step 1 to 3).
 * Before the password is tried, `found` gets the entry and the limit that this try counts for.
 * Refuses `signin_failed`, or `upstream_failed` if the directory cannot be reached.
 */
export async function provePerson(
  ctx: Context,
  connection: LdapConnection,
  given: { username: string; password: string },
  told: { found: (person: DirectoryPerson) => void; counted: (limit: Limit) => void },
): Promise<DirectoryPerson> {
  const visit = await ctx.outbound.visitDirectory(connection);
  const account = { dn: connection.bindDn, password: openBindPassword(ctx, connection) };
  const query = personQuery(connection, given.username);
  const search = await tryingBind(ctx, connection, (watch) =>
    watch(visit).search(account, query),
  ).catch((error: unknown) => {
    const tooMany = error instanceof Refusal && error.code === 'too_many_requests';
    throw tooMany ? signInFailed('service_too_many_tries') : error;
  });
  if (!search.ok) throw signInFailed(`service_${search.at}_${search.reason}`);
  const one = onePerson(search.value, connection);
  if (!one.ok) throw signInFailed(one.reason);
  told.found(one.person);
  told.counted(await spendTry(ctx, connection, one.person));
  const proved = await visit.prove({ dn: one.person.dn, password: given.password });
  if (!proved.ok) throw signInFailed(proved.reason);
  return one.person;
}

/**
 * Counts a try of the entry's password, whatever name found the entry. A try over the limit gets
 * the same answer as a wrong password (security L7, L8).
 */
async function spendTry(
  ctx: Context,
  { organizationId }: LdapConnection,
  person: Pick<DirectoryPerson, 'issuer' | 'subject'>,
): Promise<Limit> {
  const limit = entryLimit(ctx, person, organizationId);
  await spend(ctx, [limit]).catch((error: unknown) => {
    const tooMany = error instanceof Refusal && error.code === 'too_many_requests';
    throw tooMany ? signInFailed('too_many_tries') : error;
  });
  return limit;
}
