import { createHash } from 'node:crypto';
import type { AdapterPayload } from 'oidc-provider';
import type { Context } from '../../../context.ts';
import { select } from '../../../database/select.ts';
import { idleSince, isUsable } from '../../people/sessions/live.sql.ts';
import {
  type AdmissionFacts,
  membershipAt,
  standingColumns,
} from '../../tenancy/clients/admits.sql.ts';
import { type Barred, barredBy } from '../../tenancy/clients/admits.ts';
import { rowIdOf } from '../../tenancy/clients/client.ts';
import {
  type ClientColumns,
  type ClientRow,
  clientColumns,
  clientKinds,
  clientOf,
} from './client-row.sql.ts';
import {
  type LiveSession,
  type SessionColumns,
  sessionColumns,
  sessionKinds,
  sessionOf,
} from './live-session.sql.ts';

// Each request reads everything again, so that idctl does not accept a session or token that has
// ended. Frequent requests use one statement.

/** A stored code, token or grant. */
export interface Stored {
  id: string;
  payload: AdapterPayload;
  /** Null until it is used up. */
  consumedAt: unknown;
}

/** The rows that one statement has read for a request. */
export interface ReadForRequest {
  client: ClientRow;
  /** The session of the browser, or of the code or token; null if it is not live. */
  session: LiveSession | null;
  sessionId: string | null;
  /** Why the session's account may not use the client; null if it may. */
  barred: Barred | null;
  grantId: string | null;
  /** The code or token, and the grant. */
  records: Stored[];
}

/** The client, session and credential that a request names. */
export interface NamedInRequest {
  clientId: unknown;
  /** The session of the browser. */
  sessionId?: string | null;
  /** The code or refresh token that the request redeems. */
  redeems?: { model: 'AuthorizationCode' | 'RefreshToken'; value: unknown } | undefined;
}

interface Row extends ClientColumns, SessionColumns, AdmissionFacts {
  sessionId: string | null;
  /** The account, if the session is live. */
  usableId: string | null;
  recordId: string | null;
  recordPayload: Stored['payload'];
  recordConsumedAt: Stored['consumedAt'];
  grantRow: string | null;
  grantPayload: Stored['payload'];
  grantId: string | null;
}

const statement = (ctx: Context) => `SELECT ${clientColumns}, ${sessionColumns}, ${standingColumns},
    s.id AS "sessionId", a.id AS "usableId", r.id AS "recordId", r.payload AS "recordPayload",
    r.consumed_at AS "recordConsumedAt", g.id AS "grantRow", g.payload AS "grantPayload",
    g.grant_id AS "grantId"
  FROM clients c
  LEFT JOIN provider_records r ON r.id = $2 AND r.client_id = c.id
  LEFT JOIN sessions s ON s.id = COALESCE(r.session_id, $3)
  LEFT JOIN accounts a ON a.id = s.account_id AND ${isUsable('$4', '$5')}
  LEFT JOIN ${membershipAt(ctx, 'c.organization_id')}
  LEFT JOIN project_memberships p ON p.account_id = a.id AND p.project_id = c.project_id
  LEFT JOIN provider_records g ON g.session_id = s.id AND g.client_id = c.id AND g.model = 'Grant'
  WHERE c.id = $1`;

const columns = {
  ...clientKinds,
  ...sessionKinds,
  recordPayload: 'json',
  grantPayload: 'json',
} as const;

/** Reads the rows that the request names, with one statement; null without a known client. */
export async function readNamed(
  ctx: Context,
  named: NamedInRequest,
): Promise<ReadForRequest | null> {
  const { clientId, sessionId = null, redeems } = named;
  const id = typeof clientId === 'string' ? rowIdOf(clientId) : null;
  if (id === null) return null;
  const value = redeems?.value;
  const recordId = typeof value === 'string' && redeems ? idOf(redeems.model, value) : null;
  const given = [id, recordId, sessionId, ctx.now, idleSince(ctx)];
  const [row] = await select<Row>(statement(ctx), given, { prepared: true, columns });
  if (row === undefined) return null;
  const client = clientOf(row);
  const { recordPayload, recordConsumedAt, grantRow, grantPayload } = row;
  const records: Stored[] = [];
  if (row.recordId !== null)
    records.push({ id: row.recordId, payload: recordPayload, consumedAt: recordConsumedAt });
  if (grantRow !== null) records.push({ id: grantRow, payload: grantPayload, consumedAt: null });
  return {
    client,
    session: row.sessionId === null || row.usableId === null ? null : sessionOf(row.sessionId, row),
    sessionId: row.sessionId,
    barred: barredBy(client, row),
    grantId: row.grantId,
    records,
  };
}

/** The stored code, token or grant; undefined if there is none. */
export async function findStored(id: string): Promise<Stored | undefined> {
  const [row] = await select<Stored>(
    `SELECT id, payload, consumed_at AS "consumedAt" FROM provider_records WHERE id = $1`,
    [id],
    { prepared: true, columns: { payload: 'json' } },
  );
  return row;
}

/** The id of the row of a code, token or grant. */
export function idOf(model: string, value: string): string {
  return createHash('sha256').update(`${model}:${value}`).digest('hex');
}
