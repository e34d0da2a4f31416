import type { Client } from '../../../database/models/client.ts';
import { select } from '../../../database/select.ts';
import { rowIdOf } from '../../tenancy/clients/client.ts';

/** A client as idctl's OpenID provider reads it at each request. */
export interface ClientRow
  extends Pick<
    Client,
    | 'id'
    | 'organizationId'
    | 'name'
    | 'secretHash'
    | 'redirectUris'
    | 'postLogoutRedirectUris'
    | 'backchannelLogoutUri'
    | 'idTokenAlg'
    | 'projectId'
    | 'role'
  > {
  pkce: boolean;
  suspended: boolean;
}

/** The columns of a client as a query returns them. */
export interface ClientColumns extends Omit<ClientRow, 'suspended'> {
  suspendedAt: unknown;
}

/** The columns of the client `c`. */
export const clientColumns = `c.id, c.organization_id AS "organizationId", c.name,
    c.secret_hash AS "secretHash", c.redirect_uris AS "redirectUris",
    c.post_logout_redirect_uris AS "postLogoutRedirectUris",
    c.backchannel_logout_uri AS "backchannelLogoutUri", c.pkce, c.id_token_alg AS "idTokenAlg",
    c.project_id AS "projectId", c.role, c.suspended_at AS "suspendedAt"`;

/** The kinds of these columns. */
export const clientKinds = {
  redirectUris: 'json',
  postLogoutRedirectUris: 'json',
  pkce: 'flag',
} as const;

// Bypasses the ORM, because requests to idctl's OpenID provider run this query.
const read = `SELECT ${clientColumns} FROM clients c WHERE c.id = $1`;

/** The client with this client id, or null. */
export async function findClientRow(clientId: string): Promise<ClientRow | null> {
  const id = rowIdOf(clientId);
  if (id === null) return null;
  const [row] = await select<ClientColumns>(read, [id], { prepared: true, columns: clientKinds });
  return row === undefined ? null : clientOf(row);
}

// Both dialects compare the JSON text. The caller checks the parsed list.
const containing = (column: string) =>
  `replace(CAST(c.${column} AS text), $1, '') <> CAST(c.${column} AS text)`;
const inLogout = `SELECT ${clientColumns} FROM clients c WHERE ${containing('post_logout_redirect_uris')}`;
const ofPublic = `SELECT ${clientColumns} FROM clients c
  WHERE c.secret_hash IS NULL AND c.suspended_at IS NULL AND ${containing('redirect_uris')}`;

/** The clients that have registered this address to go to after a sign-out. */
export async function listClientsAfterLogout(uri: string): Promise<ClientRow[]> {
  const rows = await select<ClientColumns>(inLogout, [uri], { columns: clientKinds });
  return rows.map(clientOf).filter((client) => client.postLogoutRedirectUris.includes(uri));
}

/** Whether a public client has a redirect URI at this web origin. */
export async function hasPublicClientAt(origin: string): Promise<boolean> {
  const rows = await select<ClientColumns>(ofPublic, [origin], { columns: clientKinds });
  const uris = rows.flatMap((row) => clientOf(row).redirectUris);
  return uris.some((uri) => URL.parse(uri)?.origin === origin);
}

/** Builds a client from its columns. */
export function clientOf(row: ClientColumns): ClientRow {
  const { id, organizationId, name, secretHash, backchannelLogoutUri, idTokenAlg } = row;
  const { projectId, role } = row;
  return {
    ...{ id, organizationId, name, secretHash, backchannelLogoutUri, idTokenAlg, projectId, role },
    redirectUris: row.redirectUris,
    postLogoutRedirectUris: row.postLogoutRedirectUris,
    pkce: row.pkce,
    suspended: row.suspendedAt !== null,
  };
}
