import type { Context } from '../../../context.ts';
import type { OAuthApp } from '../../../database/models/app.ts';
import { recordEvent } from '../../foundation/events/record.ts';

/** Records an event of an app; call it inside the transaction that makes the change. */
export function recordAppEvent(
  ctx: Context,
  what:
    | { kind: 'app.registered' | 'app.regenerated' }
    | { kind: 'app.revoked'; keepTokens: boolean },
  { id, name, accountId: account }: OAuthApp,
): Promise<void> {
  const subject = { type: 'app', id, name };
  if (what.kind !== 'app.revoked')
    return recordEvent(ctx, { kind: what.kind, subject, data: { account } });
  return recordEvent(ctx, {
    kind: what.kind,
    subject,
    data: { account, keepTokens: what.keepTokens },
  });
}
