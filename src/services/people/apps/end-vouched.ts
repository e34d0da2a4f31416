import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { Account } from '../../../database/models/account.ts';
import { OAuthApp } from '../../../database/models/app.ts';
import { recordTokenEvent } from '../tokens/event.ts';
import { recordAppEvent } from './event.ts';

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
