import { type Barred, barredFrom } from '../../tenancy/clients/admits.ts';
import { clientIdOf } from '../../tenancy/clients/client.ts';
import { type ClaimedPerson, readPerson } from './claims.sql.ts';
import { type ClientRow, findClientRow } from './client-row.sql.ts';
import { type GrantOfSession, grantsOf } from './grants.sql.ts';
import { findLiveSession, type LiveSession } from './live-session.sql.ts';
import { findStored, type ReadForRequest, type Stored } from './reading.sql.ts';
import type { ProviderRequest } from './request.ts';

// Reads rows for the package: those that this request has already read, or else with a new query.

/** The client with this client id, or null. */
export async function readClient(
  { clients, read }: ProviderRequest,
  clientId: string,
): Promise<ClientRow | null> {
  const isRead = read && clientIdOf(read.client) === clientId;
  const row = isRead ? read.client : await findClientRow(clientId);
  if (row !== null) clients.set(clientId, row);
  return row;
}

/** The stored code, token or grant; undefined if there is none. */
export async function readRecord(
  { read }: ProviderRequest,
  id: string,
): Promise<Stored | undefined> {
  return read?.records.find((record) => record.id === id) ?? findStored(id);
}

/** The live session with this id, or null. */
export async function readSession(
  { ctx, read }: ProviderRequest,
  id: string,
): Promise<LiveSession | null> {
  return read?.sessionId === id ? read.session : findLiveSession(ctx, id);
}

/** The grants of a session. If they were read with a client, only the grant at that client. */
export async function readGrants(
  { read }: Pick<ProviderRequest, 'read'>,
  sessionId: string,
): Promise<GrantOfSession[]> {
  if (read?.sessionId !== sessionId) return grantsOf(sessionId);
  const { client, grantId } = read;
  return grantId === null ? [] : [{ clientId: client.id, grantId }];
}

/** Why the account may not use the client; null if it may. */
export async function readBarred(
  { ctx, read }: ProviderRequest,
  client: ClientRow,
  accountId: string,
): Promise<Barred | null> {
  return isAbout(read, client, accountId) ? read.barred : barredFrom(ctx, client, accountId);
}

/** The member of the client's organization, as the claims name them; null for other accounts. */
export async function readMember(
  { ctx, read }: ProviderRequest,
  client: ClientRow,
  accountId: string,
): Promise<ClaimedPerson | null> {
  return isAbout(read, client, accountId)
    ? read.person
    : readPerson(ctx, client.organizationId, accountId);
}

function isAbout(
  read: ProviderRequest['read'],
  client: ClientRow,
  accountId: string,
): read is ReadForRequest {
  return read?.session?.accountId === accountId && read.client.id === client.id;
}
