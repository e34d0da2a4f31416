import type { Context } from '../../../context.ts';
import type { Session } from '../../../database/models/session.ts';
import { select } from '../../../database/select.ts';
import { idleSince, isUsable } from '../../people/sessions/live.sql.ts';

/** A live session, as idctl's OpenID provider sees it. */
export interface LiveSession extends Pick<Session, 'id' | 'accountId' | 'method'> {
  startedAt: Date;
  /** Whether idctl checked the account's second factor. */
  secondFactor: boolean;
  /** Whether the account has a passkey, which may have been that second factor. */
  hasPasskey: boolean;
}

/** The columns of a session as a query returns them. */
export interface SessionColumns {
  accountId: string;
  method: Session['method'];
  startedAt: Date;
  secondFactorAt: unknown;
  hasPasskey: boolean;
}

/** The columns of the session `s` of the account `a`. */
export const sessionColumns = `s.account_id AS "accountId", s.method, s.created_at AS "startedAt",
    s.second_factor_at AS "secondFactorAt", a.has_passkey AS "hasPasskey"`;

/** The kinds of these columns. */
export const sessionKinds = { startedAt: 'time', hasPasskey: 'flag' } as const;

/** The session with this id if it is live and its account is enabled, else null. */
export async function findLiveSession(ctx: Context, id: string): Promise<LiveSession | null> {
  const [row] = await select<SessionColumns>(
    `SELECT ${sessionColumns}
      FROM sessions s JOIN accounts a ON a.id = s.account_id
      WHERE s.id = $1 AND ${isUsable('$2', '$3')}`,
    [id, ctx.now, idleSince(ctx)],
    { prepared: true, columns: sessionKinds },
  );
  return row === undefined ? null : sessionOf(id, row);
}

/** Builds a session from its columns. */
export function sessionOf(id: string, row: SessionColumns): LiveSession {
  return {
    id,
    accountId: row.accountId,
    method: row.method,
    startedAt: row.startedAt,
    secondFactor: row.secondFactorAt !== null,
    hasPasskey: row.hasPasskey,
  };
}
