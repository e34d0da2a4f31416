import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import type { Account } from '../../../database/models/account.ts';
import type { Session, SignInMethod } from '../../../database/models/session.ts';
import { insertRow } from '../../../database/select.ts';
import { countSignIn, recordEvent } from '../../foundation/events/record.ts';
import { after, sessionSeconds } from '../../foundation/time.ts';
import { type Browser, meetBrowser } from './browser.ts';
import { endShownSession } from './end.ts';
import { keepRefreshToken, nextRefreshToken, signSession } from './tokens.ts';

/** How the person has signed in. */
interface Begun {
  method: SignInMethod;
  /** The organization's connection that the person signed in through, if any. */
  connection: { id: string; organizationId: string } | null;
  passedSecondFactor: boolean;
  vouchedBy: string | null;
  unapproved: boolean;
  browser: Browser;
}

/**
 * Starts a session in place of the browser's current session, and returns its tokens. Only
 * `beginSession` calls it, inside the sign-in's transaction, after all its checks.
 */
export async function startSession(ctx: Context, account: Account, begun: Begun) {
  await endShownSession(ctx);
  const session = { id: orderedId(), expiresAt: after(ctx.now, sessionSeconds) };
  const refresh = await nextRefreshToken(ctx, session);
  countSignIn(ctx, begun.method, 'succeeded');
  // The tokens are signed while the database writes the rows.
  const signed = signSession(ctx, account, session, refresh);
  const kept = keepSession(ctx, account, begun, session).then(() =>
    keepRefreshToken(session, refresh),
  );
  const [answer] = await Promise.all([signed, kept]);
  await meetBrowser(ctx, account, begun.method, begun.browser);
  /** Used only for the cookie; the answer's schema leaves it out. */
  return { ...answer, browser: begun.browser.value };
}

/**
 * Writes the session and its event. Bypasses the ORM, because these are the most frequent writes.
 */
async function keepSession(
  ctx: Context,
  { id, name }: Account,
  { method, connection, passedSecondFactor, vouchedBy, unapproved }: Begun,
  session: Pick<Session, 'id' | 'expiresAt'>,
): Promise<void> {
  const organizationId = connection?.organizationId ?? null;
  await insertRow('sessions', {
    id: session.id,
    account_id: id,
    method,
    connection_id: connection?.id ?? null,
    organization_id: organizationId,
    address: ctx.client.address,
    user_agent: ctx.client.userAgent,
    created_at: ctx.now,
    last_seen_at: ctx.now,
    expires_at: session.expiresAt,
    second_factor_at: passedSecondFactor ? ctx.now : null,
    vouched_by: vouchedBy,
    unapproved,
  });
  await recordEvent(ctx, {
    kind: 'session.started',
    organizationId,
    subject: { type: 'user', id, name },
    data: { method, session: session.id },
  });
}
