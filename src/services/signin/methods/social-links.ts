import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Identity } from '../../../database/models/identity.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireUser } from '../../foundation/authority/require.ts';
import { instant } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { detachIdentities, recordUnlinked } from '../../tenancy/identities/operations.ts';
import { socialProviders } from '../../tenancy/identities/social-providers.ts';

/** The social providers that the person can sign in with. */
export const socialList = z.object({
  items: z.array(z.object({ provider: z.enum(socialProviders), linkedAt: instant })),
});
export const noSocialInput = z.strictObject({});

/** Lists the social providers that the person can sign in with, and since when. */
export async function listSocial(ctx: Context) {
  const { accountId } = requireUser(ctx, 'me.see');
  const keys = await Identity.findAll({ where: { accountId, kind: 'social' }, order: ['id'] });
  const items = socialProviders.flatMap((provider) =>
    keys
      .filter(({ connectionId }) => connectionId === provider)
      .map(({ linkedAt }) => ({ provider, linkedAt: linkedAt.toISOString() })),
  );
  return { items };
}

/**
 * Unlinks the provider's account and ends the sessions that began through it, if one is linked. So
 * an attacker who linked an account with a stolen session loses access (security O5).
 */
export const unlinkSocial = operation({
  authority: 'me.credentials',
  input: z.strictObject({ provider: z.enum(socialProviders) }),
  output: z.object({ provider: z.enum(socialProviders) }),
  run: async (ctx, { provider }, { accountId, name }) => {
    await transaction(async () => {
      const keys = await Identity.findAll({
        where: { accountId, kind: 'social', connectionId: provider },
      });
      await detachIdentities(ctx, keys);
      for (const key of keys) await recordUnlinked(ctx, key, name);
    });
    return { provider };
  },
});
