import { Op } from 'sequelize';
import type { Context } from '../../context.ts';
import { AccessToken } from '../../database/models/access-token.ts';
import { Account } from '../../database/models/account.ts';
import { OAuthApp } from '../../database/models/app.ts';
import { Session } from '../../database/models/session.ts';
import { recordAppEvent } from '../apps/event.ts';
import { recordTokenEvent } from './event.ts';

// A provider is trusted with the accounts of its own organization alone (security P12). What it made in such an account
// must not serve it in another organization later.

/**
 * The organization whose provider began the session that asks, without the account's own second factor; null where no
 * provider did. A token passes on what stands behind it.
 */
export async function voucherOf({ actor }: Context): Promise<string | null> {
  if (actor.kind !== 'user') return null;
  if (actor.via !== 'session') return (await AccessToken.findByPk(actor.tokenId))?.vouchedBy ?? null;
  const session = await Session.findByPk(actor.sessionId);
  return session?.method === 'sso' && session.secondFactorAt === null ? session.organizationId : null;
}

/**
 * Ends the tokens and apps of an account with a second factor that another organization's provider made without it. Call
 * it where the account joins this organization, with the account held.
 */
export async function endVouchedTokens(
  ctx: Context,
  accountId: string,
  organizationId: string,
): Promise<void> {
  const account = await Account.findByPk(accountId, { attributes: ['totpEnabledAt'] });
  if (account === null || account.totpEnabledAt === null) return;
  // What nothing stands behind but the account itself is NULL there, which no comparison finds.
  const where = { accountId, vouchedBy: { [Op.ne]: organizationId } };
  for (const token of await AccessToken.findAll({ where })) {
    await token.destroy();
    await recordTokenEvent(ctx, 'token.revoked', token, { reason: 'joined' });
  }
  for (const app of await OAuthApp.findAll({ where })) {
    await app.destroy();
    await recordAppEvent(ctx, { kind: 'app.revoked', keepTokens: false }, app);
  }
}
