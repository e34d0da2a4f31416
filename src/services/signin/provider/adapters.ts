import Provider, {
  type Adapter,
  type AdapterPayload,
  type ClientMetadata,
  errors,
} from 'oidc-provider';
import type { Context } from '../../../context.ts';
import { clientIdOf } from '../../tenancy/clients/client.ts';
import { markOf } from './application.ts';
import type { ClientRow } from './client-row.sql.ts';
import type { LiveSession } from './live-session.sql.ts';
import { readClient, readGrants, readSession } from './read-once.ts';
import { type ProviderRequest, requestNow } from './request.ts';
import { storedAdapter } from './store.ts';
import { strengthOf } from './strength.ts';

const never = () => Promise.reject(new Error('the provider never does this'));
const noAdapter: Adapter = {
  upsert: never,
  find: never,
  findByUserCode: never,
  findByUid: never,
  consume: never,
  destroy: never,
  revokeByGrantId: never,
};

/** The adapter for one of the package's models. The package asks for each model once. */
export function adapterOf(model: string): Adapter {
  if (model === 'Client') return clients;
  if (model === 'Session') return sessions;
  return model === 'Interaction' ? interactions : storedAdapter(model);
}

const clients: Adapter = {
  ...noAdapter,
  async find(clientId) {
    const row = await readClient(requestNow(), clientId);
    return row === null ? undefined : metadataOf(row);
  },
};

/** The package's metadata of a client. The hash stands for the secret, which is not stored. */
function metadataOf(client: ClientRow): ClientMetadata {
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

/** Finds the session of a code or token in idctl's own table, at each use. */
const sessions: Adapter = {
  ...noAdapter,
  async findByUid(uid) {
    const visit = requestNow();
    const live = await readSession(visit, uid);
    if (live === null) return undefined;
    const grants = await readGrants(visit, uid);
    const authorizations = Object.fromEntries(
      grants.map(({ clientId, grantId }) => [clientIdOf({ id: clientId }), { grantId, sid: uid }]),
    );
    return { ...sessionPayload(live), authorizations };
  },
};

/** A live session of idctl as a session of the package. */
export function sessionPayload(live: LiveSession): AdapterPayload {
  return {
    kind: 'Session',
    jti: live.id,
    uid: live.id,
    accountId: live.accountId,
    loginTs: Math.floor(live.startedAt.getTime() / 1000),
    ...strengthOf(live),
  };
}

// A request that waits for a sign-in is stored in the browser, sealed, in a cookie for its own
// path. So strangers cannot store anything on the server.

const requestCookie = 'oauth_request';
// Browsers keep cookies up to 4096 bytes.
const longestCookie = 3800;

const placeOf = (uid: string) => ({ table: 'cookies', column: requestCookie, row: uid });

/**
 * The name of a cookie that `oidc-provider` sets. Its path is that of one authorization, so on
 * https its prefix is `__Secure-` (security X7).
 */
export function cookieName(baseUrl: string, bare: string): string {
  return baseUrl.startsWith('https:') ? `__Secure-${bare}` : bare;
}

/** The parts of a request that the cookie stores. */
interface Kept {
  params: Record<string, unknown>;
  exp: number;
  iat: number;
  cid?: string;
  /** When the request was made, in milliseconds. Only a later sign-in answers the request. */
  askedAt: number;
}

/** The mark of a waiting request in this browser (`markOf`). */
export function markOfRequest(
  { ctx, clients, browser = '' }: ProviderRequest,
  uid: string,
  params: Record<string, unknown>,
): string {
  const row = clients.get(String(params['client_id']));
  const redirectUri = params['redirect_uri'];
  return row === undefined ? '' : markOf(ctx, row, { redirectUri, uid, browser });
}

const interactions: Adapter = {
  ...noAdapter,
  async upsert(uid, payload) {
    const { ctx } = requestNow();
    const { id_token_hint: _hint, ...params } = payload.params ?? {};
    const hinted = Provider.ctx?.oidc.entities.IdTokenHint?.payload['sub'];
    const kept = {
      params: { ...params, ...(hinted === undefined ? {} : { expected_sub: hinted }) },
      exp: payload.exp,
      iat: payload.iat,
      cid: payload.cid,
      askedAt: ctx.now.getTime(),
    };
    const sealed = ctx.keyring.seal(JSON.stringify(kept), placeOf(uid));
    if (sealed.length > longestCookie)
      throw new errors.InvalidRequest('the authorization request is too long');
    setRequestCookie(ctx, uid, sealed);
  },
  async find(uid) {
    const { ctx, session } = requestNow();
    const sealed = Provider.ctx?.cookies.get(cookieName(ctx.config.baseUrl, requestCookie));
    if (sealed === undefined) return undefined;
    const kept = openRequestCookie(ctx, sealed, uid);
    if (kept === null) return undefined;
    const { askedAt, ...payload } = kept;
    const signedInSince = session !== null && session.startedAt.getTime() >= askedAt;
    return {
      ...payload,
      kind: 'Interaction',
      jti: uid,
      returnTo: `${ctx.config.baseUrl}/oauth/authorize/${uid}`,
      ...(signedInSince && {
        result: {
          login: {
            accountId: session.accountId,
            ts: Math.floor(session.startedAt.getTime() / 1000),
            ...strengthOf(session),
          },
          // A later sign-in is also the choice of an account.
          select_account: {},
        },
      }),
    };
  },
  destroy: async (uid) => setRequestCookie(requestNow().ctx, uid, null),
};

function openRequestCookie(ctx: Context, sealed: string, uid: string): Kept | null {
  try {
    // Only `upsert` seals values of this cookie.
    return JSON.parse(ctx.keyring.open(sealed, placeOf(uid))) as Kept;
  } catch {
    return null;
  }
}

function setRequestCookie({ config }: Context, uid: string, value: string | null): void {
  const { baseUrl } = config;
  Provider.ctx?.cookies.set(cookieName(baseUrl, requestCookie), value, {
    path: `/oauth/authorize/${uid}`,
    httpOnly: true,
    sameSite: 'lax',
    overwrite: true,
    ...(value === null ? {} : { maxAge: 3600_000 }),
  });
}
