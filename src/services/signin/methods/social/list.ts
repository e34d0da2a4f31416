import type { Context } from '../../../../context.ts';
import { Identity } from '../../../../database/models/identity.ts';
import { requireUser } from '../../../foundation/authority/require.ts';
import { socialProviders } from '../../../tenancy/identities/providers.ts';

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
