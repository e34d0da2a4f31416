import type { Context } from '../../../context.ts';
import type { AccessToken } from '../../../database/models/access-token.ts';
import { recordEvent } from '../../foundation/events/record.ts';

/** Records an event of a token; call it inside the transaction that makes the change. */
export function recordTokenEvent(
  ctx: Context,
  kind: 'token.created' | 'token.regenerated' | 'token.revoked',
  token: Pick<AccessToken, 'id' | 'name' | 'accountId'>,
  more: Record<string, unknown> = {},
): Promise<void> {
  const subject = { type: 'token', id: token.id, name: token.name };
  return recordEvent(ctx, { kind, subject, data: { account: token.accountId, ...more } });
}
