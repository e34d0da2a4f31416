import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { Session } from '../../../database/models/session.ts';

// A provider is trusted only with the accounts of its own organization (security P12). A token or
// app it made in such an account must not serve it in another organization later.

/**
 * The organization whose provider began the caller's session without the account's own second
 * factor; null if no provider did. A token passes its own value on.
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
