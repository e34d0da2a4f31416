import { factorKinds } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Session } from '../../../database/models/session.ts';
import { columnsAt } from '../../../database/read-row.ts';
import { execute, select, selectAs } from '../../../database/select.ts';
import { belongsBeyond } from '../../foundation/domain-names/pushed.sql.ts';

// The SQL that ends sessions.

const ending =
  'UPDATE sessions SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL RETURNING account_id AS "accountId"';

/** Ends one session. Returns its account; null if it had ended before. */
export async function endById(id: string, now: Date): Promise<string | null> {
  const [ended] = await select<{ accountId: string }>(ending, [id, now], { prepared: true });
  return ended?.accountId ?? null;
}

/** A session and its account. */
export interface SessionOf {
  session: Session;
  account: Account;
}

/** The session with this id, live or not, and its account; null if it is gone. */
export async function readSession(id: string): Promise<SessionOf | null> {
  const [ofSession, ofAccount] = [columnsAt(Session, 's'), columnsAt(Account, 'a')];
  const [row] = await selectAs<object>(
    `SELECT ${ofSession.list}, ${ofAccount.list}
       FROM sessions s JOIN accounts a ON a.id = s.account_id WHERE s.id = $1`,
    [id],
    { prepared: true, columns: { ...ofSession.kinds, ...ofAccount.kinds } },
  );
  const [session, account] = row === undefined ? [] : [ofSession.build(row), ofAccount.build(row)];
  return session && account ? { session, account } : null;
}

/** Notes a use of the session. Call it inside a transaction, as `rotateTo`. */
export async function touchSession(id: string, now: Date): Promise<void> {
  await execute('UPDATE sessions SET last_seen_at = $2 WHERE id = $1', [id, now], {
    prepared: true,
  });
}

/** Marks the refresh token as used, with its successor. */
export async function rotateTo(successor: string, id: string, now: Date): Promise<void> {
  await execute(
    'UPDATE refresh_tokens SET rotated_at = $2, successor_id = $3 WHERE id = $1',
    [id, now, successor],
    { prepared: true },
  );
}

const endingByDomain = `UPDATE sessions SET ended_at = $3 WHERE organization_id = $1 AND ended_at IS NULL AND (
    connection_id IN (SELECT id FROM sso_connections WHERE organization_id = $1 AND email_domain = $2)
    OR account_id IN (SELECT id FROM accounts WHERE email LIKE $4)) RETURNING id`;

/**
 * Ends the organization's sessions that began through the domain's connection, or belong to people
 * with an address on the domain. Returns how many.
 */
export async function endByDomain(
  organizationId: string,
  domain: string,
  now: Date,
): Promise<number> {
  return (await select(endingByDomain, [organizationId, domain, now, `%@${domain}`])).length;
}

// An id that no session has.
const noSession = '00000000-0000-0000-0000-000000000000';

const endingPastSecondFactor = (ctx: Context) => `UPDATE sessions SET ended_at = $2
  WHERE account_id = $1 AND ended_at IS NULL AND id <> $3
    AND (method IN (${factorKinds.map((kind) => `'${kind}'`).join(', ')}) AND second_factor_at IS NULL OR vouched_by IS NOT NULL)
    AND EXISTS (SELECT 1 FROM accounts a WHERE a.id = $1 AND (a.totp_enabled_at IS NOT NULL OR a.has_passkey)
      AND ${belongsBeyond(ctx, 'COALESCE(sessions.vouched_by, sessions.organization_id)')})
  RETURNING id`;

/**
 * Ends the account's sessions, except `but`, whose only proof comes from one organization's
 * provider, if the account has a second factor and belongs to another organization too.
 */
export async function endPastSecondFactor(
  ctx: Context,
  accountId: string,
  but: string | null,
): Promise<void> {
  await select(endingPastSecondFactor(ctx), [accountId, ctx.now, but ?? noSession]);
}

/**
 * Ends the sessions of an account ($2) through the organization ($1), at $3. If the organization
 * has verified the domain ($5), ends all the account's sessions. This is plain SQL, because
 * provisioning runs it thousands of times.
 */
export const endingThrough = `UPDATE sessions SET ended_at = $3 WHERE account_id = $2 AND ended_at IS NULL AND (organization_id = $1
    OR EXISTS (SELECT 1 FROM domains WHERE organization_id = $1 AND name = $5 AND state = 'Verified'))`;
