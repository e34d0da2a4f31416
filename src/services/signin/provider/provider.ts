import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { decodeJwt } from 'jose';
import Provider, { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { Context } from '../../../context.ts';
import type { Keyring } from '../../../crypto/seal.ts';
import { hashOfSecret, isEqual } from '../../../crypto/secret.ts';
import { keysOfIdTokens } from '../../foundation/keys/signing-key.ts';
import { sessionPayload } from './adapters.ts';
import type { ClientRow } from './client-row.sql.ts';
import { configureProvider } from './configuration.ts';
import { findDenied } from './denied.ts';
import { encoded } from './inner.ts';
import { countRefusal } from './refused-client.ts';
import {
  type Answering,
  type DeniedWays,
  during,
  type ProviderRequest,
  requestNow,
} from './request.ts';

interface Ready {
  generation: string;
  provider: OpenIdProvider;
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

const ready = new WeakMap<Keyring, Ready>();

/**
 * idctl's OpenID provider with the keys that sign now. A key rotation replaces it with a new one.
 * This is safe, because a provider does not keep state in memory.
 */
async function currentProvider(ctx: Context): Promise<Ready> {
  const keys = await keysOfIdTokens(ctx);
  const generation = keys.map(({ kid }) => kid).join();
  const before = ready.get(ctx.keyring);
  if (before?.generation === generation) return before;
  const provider = new OpenIdProvider(
    ctx.config.baseUrl,
    configureProvider(ctx.config.baseUrl, keys),
  );
  const made = { generation, provider, answer: provider.callback() };
  ready.set(ctx.keyring, made);
  return made;
}

/** Answers one request to idctl's OpenID provider. */
export async function answerByProvider(
  visit: ProviderRequest,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { answer } = await currentProvider(visit.ctx);
  await during(visit, () => answer(request, response));
}

/**
 * The client and session that an ID token of this instance was issued for, even if it has expired;
 * null for any other text.
 */
export function readIdToken(
  visit: ProviderRequest,
  token: string,
): Promise<{ client: ClientRow; sid: unknown } | null> {
  return during(visit, async () => {
    const { provider } = await currentProvider(visit.ctx);
    try {
      const client = await provider.Client.find(String(decodeJwt(token).aud));
      const row = visit.clients.get(client?.clientId ?? '');
      if (client === undefined || row === undefined) return null;
      const { payload } = await provider.IdToken.validate(token, client);
      return { client: row, sid: payload['sid'] };
    } catch (error) {
      // A failure of the database does not make the token invalid.
      if (error instanceof Error && 'sql' in error) throw error;
      return null;
    }
  });
}

/** The package's provider, with our sessions, our form page, and hashed client secrets. */
class OpenIdProvider extends Provider {
  constructor(issuer: string, configuration: Configuration) {
    super(issuer, configuration);
    this.addMode('form_post', (koa, to, answer) => {
      if (isSilent(koa)) return refuseSilentForm(koa, to, answer);
      requestNow().pages.post(koa, to, answer);
    });
    // idctl itself sets the request's headers, from the base URL.
    this.proxy = true;
    bindSessions(this);
    this.Client.prototype.compareClientSecret = isSecretOf;
    this.Client.prototype.includeSid = () => true;
    this.Client.prototype.responseModeAllowed = isModeAllowed;
    this.on('server_error', (_koa: unknown, error: unknown) => {
      requestNow().fault = error;
    });
    // Without a listener, Koa prints the error.
    EventEmitter.prototype.on.call(this, 'error', (error: unknown) => {
      requestNow().fault = error;
    });
    this.use(async (koa, next) => {
      await next();
      dropOpenAccess(koa);
      // RFC 7009 §2.2: the answer has no body, and so no content type.
      if (koa.path.endsWith('/revoke') && koa.status === 200) koa.remove('Content-Type');
      const visit = requestNow();
      if (isRefusedClient(koa))
        await countRefusal(visit).catch((error: unknown) => {
          visit.fault = error;
        });
      // At the authorization endpoint, `fail` has shown the error to the person.
      if (visit.fault !== undefined && !koa.path.startsWith('/oauth/authorize'))
        visit.pages.breakOff(koa, visit.fault);
    });
  }

  /**
   * The package's constructor calls this for each of its modes. `query` and `fragment` do not need
   * a script. `fragment` only reports errors (`isModeAllowed`).
   */
  override registerResponseMode(...[name, handler]: Parameters<Registering>): void {
    if (name === 'query' || name === 'fragment') this.addMode(name, handler);
  }

  private addMode(...[name, handler]: Parameters<Registering>): void {
    super.registerResponseMode(name, (koa, to, given) => {
      const answer = withStandardError(given);
      if (answer['error'] !== 'access_denied' || isSilent(koa)) return handler(koa, to, answer);
      return denyPerson(koa, async () => {
        if (name === 'form_post') return { to, answer };
        await handler(koa, to, answer);
        const back = koa.response.get('Location');
        koa.remove('Location');
        return back;
      });
    });
  }
}

/** Whether the application has asked that the person sees no page. */
function isSilent({ oidc: { params } }: KoaContextWithOIDC): boolean {
  return String(params?.['prompt'] ?? '')
    .split(' ')
    .includes('none');
}

/** Shows idctl's page to a person who may not use the application. It offers the way back. */
async function denyPerson(
  koa: KoaContextWithOIDC,
  findBack: () => Promise<DeniedWays['back']>,
): Promise<void> {
  const visit = requestNow();
  const { client, params } = koa.oidc;
  const row = visit.clients.get(client?.clientId ?? '');
  if (row === undefined || visit.session === null) throw new Error('a refusal without a person');
  const asked = Object.entries({ ...params, prompt: 'select_account', again: undefined });
  const given = asked.filter(([, value]) => value !== undefined);
  visit.pages.deny(koa, await findDenied(visit, row, visit.session.accountId), {
    back: await findBack(),
    otherAccount: `/oauth/authorize?${encoded(Object.fromEntries(given))}`,
  });
}

type Registering = Provider['registerResponseMode'];

/**
 * Refuses `response_mode=fragment`. The package needs the mode for one answer: a response type with
 * a token is refused in the fragment (OAuth 2.0 Multiple Response Types §5).
 */
function isModeAllowed(mode: string, responseType: string): boolean {
  if (mode !== 'fragment' || responseType.includes('token')) return true;
  const params = Provider.ctx?.oidc.params;
  if (params !== undefined) params['response_mode'] = undefined;
  throw new errors.UnsupportedResponseMode();
}

/** The error of RFC 6749 §4.1.2.1, with a description, which the package sometimes leaves out. */
function withStandardError(answer: Record<string, unknown>): Record<string, unknown> {
  const { error, error_description: said } = answer;
  if (String(said).startsWith('openid scope must be requested'))
    return { ...answer, error: 'invalid_scope' };
  if (error === undefined || said !== undefined) return answer;
  const parameter = String(error).replace('_not_supported', '');
  return { ...answer, error_description: `the parameter ${parameter} is not supported` };
}

/**
 * The form needs a click, but `prompt=none` does not show a page. So a redirect reports the error.
 */
function refuseSilentForm(
  koa: KoaContextWithOIDC,
  to: string,
  { state, iss }: Record<string, unknown>,
): void {
  const url = new URL(to);
  const said = { error: 'invalid_request', error_description: 'prompt=none excludes form_post' };
  for (const [name, value] of Object.entries({ ...said, state, iss }))
    if (value !== undefined) url.searchParams.set(name, String(value));
  koa.redirect(url.href);
}

/** Makes the package use idctl's session, without storing a session or setting its cookie. */
function bindSessions({ Session, OIDCContext }: Provider): void {
  Session.get = async (koa) => {
    const { session: live } = requestNow();
    const session = new Session();
    if (live !== null) Object.assign(session, sessionPayload(live));
    // The package neither stores a destroyed session nor sets its cookie.
    Object.defineProperty(session, 'destroyed', { value: true, writable: true });
    const { oidc } = koa;
    if (oidc instanceof OIDCContext) oidc.entity('Session', session);
    return session;
  };
}

/** Whether the secret is right. The package calls this on its client, which has only the hash. */
async function isSecretOf(this: { clientId: string }, secret: string): Promise<boolean> {
  const row = requestNow().clients.get(this.clientId);
  const hash = hashOfSecret('cos_secret_', secret);
  if (row?.secretHash == null || row.suspended || hash === null) return false;
  return isEqual(row.secretHash, hash);
}

/** The package opens its endpoints to every origin; idctl only to `http.corsOrigins`. */
function dropOpenAccess(koa: Answering): void {
  if (koa.response.get('Access-Control-Allow-Origin') !== '*') return;
  for (const header of ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'])
    koa.remove(header);
}

function isRefusedClient({ status, body }: Answering): boolean {
  return (
    status === 401 &&
    typeof body === 'object' &&
    body !== null &&
    'error' in body &&
    body.error === 'invalid_client'
  );
}
