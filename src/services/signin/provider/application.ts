import { createHmac } from 'node:crypto';
import type { Context } from '../../../context.ts';
import { isEqual } from '../../../crypto/secret.ts';
import { clientIdOf } from '../../tenancy/clients/client.ts';
import { isProtected } from '../../tenancy/clients/forward.ts';
import { type ClientRow, findClientRow } from './client-row.sql.ts';

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
