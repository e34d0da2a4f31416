import type { AccessToken } from '../../../database/models/access-token.ts';
import { select } from '../../../database/select.ts';

// The SQL that finds the holder of a credential. It bypasses the ORM, as it runs at every request.

/** The account that a credential belongs to. */
interface Holder {
  accountId: string;
  name: string;
}

/**
 * The account of a session that has not ended, or null. Does not check the expiry, because no token
 * outlives its session.
 */
export async function findLive(sessionId: string, accountId: string): Promise<Holder | null> {
  const [row = null] = await select<Holder>(
    `SELECT a.id AS "accountId", a.name FROM sessions s JOIN accounts a ON a.id = s.account_id
      WHERE s.id = $1 AND s.account_id = $2 AND s.ended_at IS NULL AND a.disabled_at IS NULL`,
    [sessionId, accountId],
    { prepared: true },
  );
  return row;
}

/** A personal access or bot token, and its account. */
interface Token
  extends Holder,
    Pick<AccessToken, 'id' | 'kind' | 'scope' | 'hash' | 'expiresAt' | 'lastUsedAt'> {}

/** The token with this hash, expired or not, if it and its account are enabled; else null. */
export async function findToken(hash: string): Promise<Token | null> {
  const [row = null] = await select<Token>(
    `SELECT t.id, t.kind, t.scope, t.hash, t.expires_at AS "expiresAt",
        t.last_used_at AS "lastUsedAt", a.id AS "accountId", a.name
       FROM access_tokens t JOIN accounts a ON a.id = t.account_id
      WHERE t.hash = $1 AND t.suspended_at IS NULL AND a.disabled_at IS NULL`,
    [hash],
    { prepared: true, columns: { expiresAt: 'time', lastUsedAt: 'time' } },
  );
  return row;
}
