import type { Context } from '../../../../context.ts';
import { Identity } from '../../../../database/models/identity.ts';
import { transaction } from '../../../../database/transaction.ts';
import { requireUser } from '../../../foundation/authority/require.ts';
import { detachIdentities, recordUnlinked } from '../../../tenancy/identities/operations.ts';
import type { SocialProvider } from '../../../tenancy/identities/providers.ts';

/**
 * Unlinks the provider's account and ends the sessions that came by it; without a link, nothing
 * happens. So an attacker who linked one with a stolen session does not keep it (security O5).
 */
export async function unlinkSocial(ctx: Context, provider: SocialProvider): Promise<void> {
  const { accountId, name } = requireUser(ctx, 'me.credentials');
  await transaction(async () => {
    const keys = await Identity.findAll({
      where: { accountId, kind: 'social', connectionId: provider },
    });
    await detachIdentities(ctx, keys);
    for (const key of keys) await recordUnlinked(ctx, key, name);
  });
}
