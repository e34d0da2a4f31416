import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { freeAccounts } from '../identities/detach.ts';
import { requireConnection } from './find.ts';
import type { ldapRefInput } from './schema.ts';

/**
 * After a change of directory: forgets the keys of every person who signed in by LDAP in this organization, former ones
 * too, and ends the sessions that came by them. The same people are linked again by their verified address at the next
 * sign-in (security I1). Says who they are.
 */
export async function relinkLdap(ctx: Context, input: z.output<typeof ldapRefInput>) {
  const { organization } = await requireAuthority(ctx, 'ldap.relink', input.org);
  return transaction(async () => {
    const { id, uri } = await requireConnection(organization);
    const freed = await freeAccounts(ctx, { kind: 'ldap', organizationId: organization.id });
    const { people, sessionsEnded } = freed;
    if (people.length === 0) throw new Refusal('not_found', 'No account is linked by LDAP.');
    await recordEvent(ctx, {
      kind: 'ldap.relinked',
      organizationId: organization.id,
      subject: { type: 'ldap', id, name: uri },
      data: { people: people.length, sessionsEnded },
    });
    return { uri, people, sessionsEnded };
  });
}
