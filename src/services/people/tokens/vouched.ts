import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { Session } from '../../../database/models/session.ts';

// A provider is trusted with the accounts of its own organization alone (security P12). What it made in such an account
// must not serve it in another organization later.

/**
 * The organization whose provider began the session that asks, without the account's own second factor; null where no
 * provider did. A token passes on what stands behind it.
 */
export async function voucherOf({ actor }: Context): Promise<string | null> {
  if (actor.kind !== 'user') return null;
  if (actor.via !== 'session')
    return (await AccessToken.findByPk(actor.tokenId))?.vouchedBy ?? null;
  const session = await Session.findByPk(actor.sessionId);
  return session?.method === 'sso' && session.secondFactorAt === null
    ? session.organizationId
    : null;
}
