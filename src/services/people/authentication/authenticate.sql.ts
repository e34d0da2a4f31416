import { type Along, nothingAlong } from '../../../database/along.ts';
import type { AccessToken } from '../../../database/models/access-token.ts';
import { selectAs } from '../../../database/select.ts';

// The SQL that finds the holder of a credential. It bypasses the ORM, as it runs at every request.
// An operation can have more of the account read along. Then the holder may have several rows, with
// the same holder in each.

/** The account that a credential belongs to. */
interface Holder {
  accountId: string;
  name: string;
}

const ofSession = statements(
  'a.id AS "accountId", a.name',
  'sessions s JOIN accounts a ON a.id = s.account_id',
  's.id = $1 AND s.account_id = $2 AND s.ended_at IS NULL AND a.disabled_at IS NULL',
);

const ofToken = statements(
  `t.id, t.kind, t.scope, t.hash, t.expires_at AS "expiresAt",
        t.last_used_at AS "lastUsedAt", a.id AS "accountId", a.name`,
  'access_tokens t JOIN accounts a ON a.id = t.account_id',
  't.hash = $1 AND t.suspended_at IS NULL AND a.disabled_at IS NULL',
);

/** Builds a statement once for each definition of what is read along. */
function statements(columns: string, tables: string, condition: string) {
  const built = new Map<Along<object>, string>();
  return (along: Along<object>): string => {
    const known = built.get(along);
    if (known !== undefined) return known;
    const sql = `SELECT ${[columns, ...along.columns].join(', ')} FROM ${tables} ${along.joins}
      WHERE ${condition} ${along.order}`;
    built.set(along, sql);
    return sql;
  };
}

/**
 * The account of a session that has not ended; otherwise nothing. Does not check the expiry,
 * because no token outlives its session.
 */
export function findLive(
  { sid, sub }: { sid: string; sub: string },
  along: Along<object> = nothingAlong,
): Promise<Holder[]> {
  const { kinds } = along;
  return selectAs(ofSession(along), [sid, sub], { prepared: true, columns: kinds });
}

/** A personal access or bot token, and its account. */
interface Token
  extends Holder,
    Pick<AccessToken, 'id' | 'kind' | 'scope' | 'hash' | 'expiresAt' | 'lastUsedAt'> {}

const tokenTimes = { expiresAt: 'time', lastUsedAt: 'time' } as const;

/** The token with this hash, expired or not, if it and its account are enabled; otherwise nothing. */
export function findToken(hash: string, along: Along<object> = nothingAlong): Promise<Token[]> {
  const columns = { ...tokenTimes, ...along.kinds };
  return selectAs(ofToken(along), [hash], { prepared: true, columns });
}
