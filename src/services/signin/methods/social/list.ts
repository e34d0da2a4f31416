import type { Context } from '../../../../context.ts';
import { Identity } from '../../../../database/models/identity.ts';
import { requireUser } from '../../../foundation/authority/require.ts';
import { socialProviders } from '../../../tenancy/identities/providers.ts';

/** With which social providers the person can be signed in, and since when. */
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
