import { createHmac } from 'node:crypto';
import type { ClientMetadata } from 'oidc-provider';
import type { Context } from '../../../context.ts';
import { isEqual } from '../../../crypto/secret.ts';
import type { Client } from '../../../database/models/client.ts';
import { select } from '../../../database/select.ts';
import { clientIdOf, rowIdOf } from '../../tenancy/clients/client.ts';
import { isProtected } from '../../tenancy/clients/forward.ts';

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

/** Makes a client from its columns. */
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

/** The package's metadata of a client. The hash stands for the secret, which is not stored. */
export function metadataOf(client: ClientRow): ClientMetadata {
  const { secretHash, redirectUris, idTokenAlg } = client;
  return {
    client_id: clientIdOf(client),
    ...(secretHash === null
      ? { token_endpoint_auth_method: 'none' as const }
      : { client_secret: secretHash, token_endpoint_auth_method: 'client_secret_basic' as const }),
    redirect_uris: redirectUris,
    response_types: ['code'],
    grant_types: ['authorization_code', 'refresh_token'],
    id_token_signed_response_alg: idTokenAlg,
  };
}

/** The application that a sign-in returns to, as the sign-in pages show it. */
export interface Application {
  name: string;
  /** The origins to which a browser may be sent with the answer. */
  origins: string[];
}

/**
 * A waiting request, and the browser it began in: the value of the cookie that forms are bound to.
 */
interface Waiting {
  uid: string;
  browser: string;
}

/**
 * The mark of a waiting request: the client id, the position of the redirect URI, and a signature.
 * Only the browser that the request began in can use it, so a link from elsewhere does not show a
 * client.
 */
export function markOf(
  ctx: Context,
  client: Pick<ClientRow, 'id' | 'redirectUris'>,
  { redirectUri, ...waiting }: Waiting & { redirectUri: unknown },
): string {
  const named = `${clientIdOf(client)}.${client.redirectUris.indexOf(String(redirectUri))}`;
  return `${named}.${signatureOf(ctx, named, waiting)}`;
}

function signatureOf(ctx: Context, named: string, { uid, browser }: Waiting): string {
  return createHmac('sha256', ctx.keyring.derive('authorization mark'))
    .update(JSON.stringify([named, uid, browser]))
    .digest('base64url');
}

/** The application that the sign-in in this browser returns to, or null. */
export async function findApplication(
  ctx: Context,
  returnTo: string | undefined,
  browser: string,
): Promise<Application | null> {
  const [path = '', query] = returnTo?.split('?', 2) ?? [];
  const given = new URLSearchParams(query);
  if (path === '/login/forward') return findProtected(given.get('origin') ?? '');
  const uid = /^\/oauth\/authorize\/([\w-]+)$/.exec(path)?.[1];
  return uid === undefined ? null : findMarked(ctx, given.get('client') ?? '', { uid, browser });
}

async function findMarked(ctx: Context, mark: string, of: Waiting): Promise<Application | null> {
  const [clientId = '', at = '', signature = ''] = mark.split('.');
  if (!isEqual(signature, signatureOf(ctx, `${clientId}.${at}`, of))) return null;
  const row = await findClientRow(clientId);
  if (row === null) return null;
  const uri = row.redirectUris[Number(at)];
  return { name: row.name, origins: uri === undefined ? [] : [new URL(uri).origin] };
}

// Shows the application's host, not its name: a guess reveals no more than `/auth/verify` does.
async function findProtected(origin: string): Promise<Application | null> {
  return (await isProtected(origin)) ? { name: new URL(origin).host, origins: [] } : null;
}
