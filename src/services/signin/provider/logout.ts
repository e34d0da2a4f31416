import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Refusal } from '../../../errors.ts';
import { ownSessionOf } from '../../people/sessions/end.ts';
import { type ClientRow, findClientRow, listClientsAfterLogout } from './client-row.sql.ts';
import type { Pages } from './request.ts';

/** The parameters of an application's sign-out request (RP-Initiated Logout §2). */
export const logoutInput = z.strictObject({
  id_token_hint: z.string().max(8000).optional(),
  client_id: z.string().max(200).optional(),
  post_logout_redirect_uri: z.string().max(2000).optional(),
  state: z.string().max(2000).optional(),
});

/** A checked sign-out request of an application. */
export interface Logout {
  client: ClientRow | null;
  /** Where the browser goes afterwards; null means idctl's own page. */
  goTo: string | null;
  /** Whether an ID token proved that the request comes from the application. */
  isHinted: boolean;
  /** Whether the ID token belongs to the caller's session. */
  isCertain: boolean;
}

/**
 * Checks a sign-out request. Refuses an unknown client, an ID token of another client, and an
 * address that the client has not registered. An invalid ID token is ignored: its key may be gone.
 * Without a token and a client id, the address counts if exactly one client has registered it.
 */
export async function checkLogout(
  ctx: Context,
  input: z.output<typeof logoutInput>,
): Promise<Logout> {
  const { id_token_hint: hint, client_id: clientId, post_logout_redirect_uri: uri, state } = input;
  const hinted = hint === undefined ? null : await readHint(ctx, hint);
  const named = clientId === undefined ? null : await findClientRow(clientId);
  if (clientId !== undefined && named === null) throw wrong('There is no such application.');
  if (hinted !== null && named !== null && hinted.client.id !== named.id)
    throw wrong('The application sent a sign-out request that is not valid.');
  const isAnonymous = hint === undefined && clientId === undefined;
  const client = hinted?.client ?? named ?? (isAnonymous && uri ? await findOnlyOwner(uri) : null);
  const isRegistered = uri !== undefined && client?.postLogoutRedirectUris.includes(uri) === true;
  const isUnknown = client === null && (hint !== undefined || isAnonymous);
  if (uri !== undefined && !isRegistered && !isUnknown)
    throw wrong('The application has not registered the address to go to afterwards.');
  return {
    client,
    goTo: isRegistered ? withState(uri, state) : null,
    isHinted: hinted !== null,
    isCertain:
      hinted !== null && hinted.sid !== undefined && hinted.sid === ownSessionOf(ctx.actor),
  };
}

async function findOnlyOwner(uri: string): Promise<ClientRow | null> {
  const [client, ...others] = await listClientsAfterLogout(uri);
  return client !== undefined && others.length === 0 ? client : null;
}

async function readHint(ctx: Context, hint: string) {
  // Imported here, so that the OpenID provider package is loaded only when needed.
  const { readIdToken } = await import('./provider.ts');
  return readIdToken({ ctx, session: null, clients: new Map(), pages: noPages }, hint);
}

const noPage = () => {
  throw new Error('an ID token is read without a page');
};
const noPages: Pages = { fail: noPage, post: noPage, deny: noPage, breakOff: noPage };

function withState(uri: string, state: string | undefined): string {
  const url = new URL(uri);
  if (state !== undefined) url.searchParams.set('state', state);
  return state === undefined ? uri : url.href;
}

function wrong(message: string): Refusal {
  return new Refusal('invalid_input', message, { hint: 'Go back to the application.' });
}
