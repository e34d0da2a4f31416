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
  type ClaimedColumns,
  type ClaimedPerson,
  claimedColumns,
  claimedJoins,
  claimedKinds,
  claimedOf,
} from './claims.sql.ts';
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
  /** The session's account as a member of the client's organization, or null. */
  person: ClaimedPerson | null;
  grantId: string | null;
  /** The code or token, and the grant. */
  records: Stored[];
}

/** The client, session and credential that a request names. */
export interface NamedInRequest {
  /** The client; if absent, that of the credential. */
  clientId?: unknown;
  /** The session of the browser. */
  sessionId?: string | null;
  /** The code or token that the request redeems, uses or asks about. */
  credential?: { model: 'AuthorizationCode' | 'RefreshToken' | 'AccessToken'; value: unknown };
}

interface Row extends ClientColumns, SessionColumns, AdmissionFacts, ClaimedColumns {
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

const statement = (
  ctx: Context,
  from: string,
) => `SELECT ${clientColumns}, ${sessionColumns}, ${standingColumns}, ${claimedColumns},
    s.id AS "sessionId", a.id AS "usableId", r.id AS "recordId", r.payload AS "recordPayload",
    r.consumed_at AS "recordConsumedAt", g.id AS "grantRow", g.payload AS "grantPayload",
    g.grant_id AS "grantId"
  FROM ${from}
  LEFT JOIN sessions s ON s.id = COALESCE(r.session_id, $2)
  LEFT JOIN accounts a ON a.id = s.account_id AND ${isUsable('$3', '$4')}
  LEFT JOIN ${membershipAt(ctx, 'c.organization_id')}
  LEFT JOIN project_memberships p ON p.account_id = a.id AND p.project_id = c.project_id
  ${claimedJoins}
  LEFT JOIN provider_records g ON g.session_id = s.id AND g.client_id = c.id AND g.model = 'Grant'`;

const ofClient = (ctx: Context) =>
  `${statement(
    ctx,
    'clients c LEFT JOIN provider_records r ON r.id = $1 AND r.client_id = c.id',
  )} WHERE c.id = $5`;

const ofCredential = (ctx: Context) =>
  `${statement(ctx, 'provider_records r JOIN clients c ON c.id = r.client_id')} WHERE r.id = $1`;

const columns = {
  ...clientKinds,
  ...sessionKinds,
  ...claimedKinds,
  recordPayload: 'json',
  grantPayload: 'json',
} as const;

/** Reads the rows that the request names, with one statement; null without a known client. */
export async function readNamed(
  ctx: Context,
  { clientId, sessionId = null, credential }: NamedInRequest,
): Promise<ReadForRequest | null> {
  const value = credential?.value;
  const recordId = typeof value === 'string' && credential ? idOf(credential.model, value) : null;
  const shared = [recordId, sessionId, ctx.now, idleSince(ctx)];
  const id = typeof clientId === 'string' ? rowIdOf(clientId) : null;
  if (id === null && (clientId !== undefined || recordId === null)) return null;
  const [row] = await select<Row>(
    id === null ? ofCredential(ctx) : ofClient(ctx),
    id === null ? shared : [...shared, id],
    { prepared: true, columns },
  );
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
    person: claimedOf(row),
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
