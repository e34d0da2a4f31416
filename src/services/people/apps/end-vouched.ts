import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { Account } from '../../../database/models/account.ts';
import { OAuthApp } from '../../../database/models/app.ts';
import { recordTokenEvent } from '../tokens/event.ts';
import { recordAppEvent } from './event.ts';

/**
 * Ends the tokens and apps that another organization's provider made without the account's own
 * second factor. Call it where an account joins this organization, with the account locked; an
 * account without a second factor keeps them.
 */
export async function endVouchedTokens(
  ctx: Context,
  accountId: string,
  organizationId: string,
): Promise<void> {
  const account = await Account.findByPk(accountId, { attributes: ['totpEnabledAt'] });
  if (account === null || account.totpEnabledAt === null) return;
  // If no provider is behind a token, the column is NULL, which no comparison finds.
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
