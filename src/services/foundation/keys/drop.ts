import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { RefreshToken } from '../../../database/models/refresh-token.ts';
import { SigningKey } from '../../../database/models/signing-key.ts';
import { recordEvent } from '../events/record.ts';
import { accessTokenSeconds, after } from '../time.ts';
import { noticeSeconds } from './key-set.ts';

/** Deletes retired signing keys of which no token lives any more (security X2); call it inside a transaction. */
export async function dropSpentKeys(ctx: Context): Promise<void> {
  const retired = await SigningKey.findAll({
    where: { retiredAt: { [Op.lt]: after(ctx.now, -accessTokenSeconds - noticeSeconds) } },
  });
  for (const key of retired) {
    const live = await RefreshToken.findOne({
      where: { keyId: key.id, expiresAt: { [Op.gt]: ctx.now } },
      attributes: ['id'],
    });
    if (live !== null) continue;
    await key.destroy();
    await recordEvent(ctx, { kind: 'key.signing.dropped', subject: { type: 'key', id: key.id } });
  }
}
