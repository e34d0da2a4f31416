import type { Context } from '../../context.ts';
import { isInTransaction } from '../../database/transaction.ts';
import { ClientGone } from '../../errors.ts';

/**
 * Stops the work if the client has gone (security X11). Never stops a transaction. Do not call it
 * between a counted try and its settlement.
 */
export function stopIfGone({ client }: Pick<Context, 'client'>): void {
  if (client.isGone?.() === true && !isInTransaction()) throw new ClientGone('the client has gone');
}
