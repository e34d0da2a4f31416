import type { Context } from '../../../../context.ts';
import { execute } from '../../../../database/select.ts';
import { ownsAddress } from '../../../foundation/domain-names/owns.ts';
import { calledBy } from '../../../foundation/scim-user/called.ts';
import { emailOf, type Named, nameOf } from '../../../foundation/scim-user/resource.ts';
import { attachAddress } from '../../../tenancy/identities/attach.ts';
import type { Held } from '../../../tenancy/scim-records/find.ts';
import { recordRenamed } from '../../../tenancy/scim-records/member.ts';

/**
 * What a change of the record means to the account: an address for one that was made without, and a new name for one
 * that was made for this record, where the organization has verified the domain. Nothing else of an account is the
 * organization's to change (security I4). Call it before the record is changed: addresses are taken before names, as by
 * whoever makes an account and its record, so that on PostgreSQL nobody waits for each other.
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
