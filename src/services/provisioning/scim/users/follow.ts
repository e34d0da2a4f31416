import type { Context } from '../../../../context.ts';
import { execute } from '../../../../database/select.ts';
import { ownsAddress } from '../../../foundation/domain-names/owns.ts';
import { calledBy } from '../../../foundation/scim-user/called.ts';
import { emailOf, type Named, nameOf } from '../../../foundation/scim-user/resource.ts';
import { attachAddress } from '../../../tenancy/identities/attach.ts';
import type { Held } from '../../../tenancy/scim-records/find.ts';
import { recordRenamed } from '../../../tenancy/scim-records/member.ts';

/**
 * Applies a change of the record to the account. An account made without an address gets one. An
 * account made for this record gets the new name, if the organization has verified the domain. An
 * organization may change nothing else of an account (security I4). Call it before the record
 * changes: creating an account also locks addresses before names. The same order avoids a deadlock
 * on PostgreSQL.
 */
export async function followResource(
  ctx: Context,
  { record, account }: Held,
  resource: Named,
): Promise<void> {
  if (record.link !== 'created') return;
  const { organizationId } = record;
  const email = emailOf(resource);
  if (email !== null && account.email === null)
    await attachAddress(ctx, account, { organizationId, email });
  const name = calledBy(resource);
  if (nameOf(resource) === null || name === account.name) return;
  if (!(await ownsAddress(organizationId, account.email))) return;
  await execute('UPDATE accounts SET name = $2 WHERE id = $1', [account.id, name]);
  await recordRenamed(ctx, { ...account, name });
}
