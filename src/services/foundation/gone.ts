import type { Context } from '../../context.ts';
import { isInTransaction } from '../../database/transaction.ts';
import { ClientGone } from '../../errors.ts';

/**
 * Stops the work if the client has gone (security X11). Never stops a transaction. Do not call it
 * between counting an attempt and deciding its result.
 */
export function stopIfGone({ client }: Pick<Context, 'client'>): void {
  if (client.isGone?.() === true && !isInTransaction()) throw new ClientGone('the client has gone');
}
