import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { SigningKey } from '../../../database/models/signing-key.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireOperator } from '../authority/require.ts';
import { recordEvent } from '../events/record.ts';
import { after } from '../time.ts';
import { forgetKeys } from './key-set.ts';
import type { newKeyView } from './schema.ts';
import { makeSigningKey } from './signing.ts';
import { viewSigningKey } from './view.ts';

/** Until a new key signs, in seconds: twice as long as a daemon may go without reading the keys again. */
export const noticeSeconds = 120;

/**
 * Makes a new key to sign session tokens with (security X2). It signs once every daemon has had the time to read it;
 * until then the old one does, and after that it still verifies. Nobody is signed out.
 */
export async function rotateSigningKey(ctx: Context): Promise<z.input<typeof newKeyView>> {
  requireOperator(ctx);
  const made = await makeSigningKey(ctx);
  const signsFrom = after(ctx.now, noticeSeconds);
  const key = await transaction(async () => {
    const [retired] = await SigningKey.update({ retiredAt: signsFrom }, { where: { retiredAt: null } });
    const created = await SigningKey.create(made);
    await recordEvent(ctx, {
      kind: 'key.signing.rotated',
      subject: { type: 'key', id: made.id },
      data: { signsFrom: signsFrom.toISOString(), retired },
    });
    return created;
  });
  forgetKeys(ctx);
  return { ...viewSigningKey(key, 'waits'), signsFrom: signsFrom.toISOString() };
}
