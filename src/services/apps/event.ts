import type { Context } from '../../context.ts';
import type { OAuthApp } from '../../database/models/app.ts';
import { recordEvent } from '../events/record.ts';

/** Writes what happened to an app; call it inside the transaction that does it. */
export function recordAppEvent(
  ctx: Context,
  kind: 'app.registered' | 'app.regenerated' | 'app.revoked',
  { id, name, accountId }: OAuthApp,
  more: Record<string, unknown> = {},
): Promise<void> {
  return recordEvent(ctx, {
    kind,
    subject: { type: 'app', id, name },
    data: { account: accountId, ...more },
  });
}
