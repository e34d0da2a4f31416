import type { Context } from '../../context.ts';
import { countUp } from './count.ts';
import { networkOf } from './network.ts';
import { requirePlace } from './spend.ts';

/**
 * Whether one more mail that anybody can ask for may go to this address (security P10). Refuses `too_many_requests` to
 * a client that asks for too many, whomever they are for. Call it inside the transaction that queues the mail.
 */
export async function mayMail(ctx: Context, email: string): Promise<boolean> {
  const { enabled, addressFailures, codeSends } = ctx.config.limits;
  if (enabled === 'off') return true;
  const client = { name: 'mails', of: networkOf(ctx.client.address), most: addressFailures, seconds: 60 };
  await requirePlace(ctx, client, 'Too many mails were asked for.');
  return (await countUp(ctx, { name: 'mails', of: email, most: codeSends, seconds: 3600 })) !== null;
}
