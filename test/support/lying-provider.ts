import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose';
import { portOf } from './ports.ts';

/** The answer of an endpoint. An object is sent as JSON, a stream piece by piece. */
interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body: Record<string, unknown> | string | AsyncIterable<string | Uint8Array>;
}

/** A received request. */
interface Seen {
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

type Endpoint = 'discovery' | 'authorization' | 'token' | 'jwks' | 'userinfo';

/** An OpenID provider on loopback. Its answers are correct until a test replaces one. */
export interface LyingProvider {
  issuer: string;
  /** The answer of each endpoint; a test may replace it. */
  answers: Record<Endpoint, (asked: Seen) => Answer | Promise<Answer>>;
  /** The correct discovery document. */
  document(): Record<string, unknown>;
  /** The correct claims of an ID token with this nonce. */
  claims(nonce: string): Record<string, unknown>;
  /** Signs a JWT with the published key, or with another. */
  sign(
    claims: Record<string, unknown>,
    header?: Partial<JWTHeaderParameters>,
    key?: CryptoKey,
  ): Promise<string>;
  /** The received requests, in order. */
  seen: Seen[];
  stop(): Promise<void>;
}

const paths: Record<string, Endpoint> = {
  '/.well-known/openid-configuration': 'discovery',
  '/authorize': 'authorization',
  '/token': 'token',
  '/jwks': 'jwks',
  '/userinfo': 'userinfo',
};

/**
 * Starts the provider. Its ID tokens are for this client and nonce, and for the person `person-1`.
 * It uses plain http, or TLS with the given certificate.
 */
export async function startLyingProvider(
  clientId: string,
  nonce: string,
  tls?: { cert: Buffer; key: Buffer },
): Promise<LyingProvider> {
  const server = (tls ? createTlsServer(tls) : createServer()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const issuer = `${tls ? 'https' : 'http'}://127.0.0.1:${portOf(server)}`;
  const seen: Seen[] = [];
  const provider = honest(issuer, clientId, nonce, privateKey, await exportJWK(publicKey));
  server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '';
    const asked = { path, headers: request.headers, body: await text(request) };
    seen.push(asked);
    const endpoint = paths[path.replace(/\?.*/, '')];
    const answer =
      endpoint === undefined ? { status: 404, body: {} } : await provider.answers[endpoint](asked);
    send(response, answer);
  });
  return {
    ...provider,
    seen,
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function honest(
  issuer: string,
  clientId: string,
  nonce: string,
  privateKey: CryptoKey,
  publicJwk: Record<string, unknown>,
): Omit<LyingProvider, 'seen' | 'stop'> {
  const sign: LyingProvider['sign'] = (claims, header, key = privateKey) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'key-1', ...header }).sign(key);
  const document = () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    // Lists more than idctl accepts, so that idctl's own list must refuse the rest.
    id_token_signing_alg_values_supported: ['ES256', 'RS256', 'RS512', 'HS256', 'none'],
  });
  const claims = (bound: string) => {
    const now = Math.floor(Date.now() / 1000);
    return { iss: issuer, aud: clientId, sub: 'person-1', iat: now, exp: now + 300, nonce: bound };
  };
  return {
    issuer,
    document,
    claims,
    sign,
    answers: {
      discovery: () => ({ body: document() }),
      // No person is signed in at the provider, so it answers `login_required`, as to
      // `prompt=none`.
      authorization: ({ path }) => {
        const redirectUri = new URLSearchParams(path.replace(/^.*\?/, '')).get('redirect_uri');
        return {
          status: 302,
          headers: { location: `${redirectUri}?error=login_required` },
          body: '',
        };
      },
      token: async () => ({
        body: { access_token: 'opaque', token_type: 'Bearer', id_token: await sign(claims(nonce)) },
      }),
      jwks: () => ({ body: { keys: [{ ...publicJwk, kid: 'key-1', alg: 'ES256', use: 'sig' }] } }),
      userinfo: () => ({ body: { sub: 'person-1', email: 'ada@acme.test' } }),
    },
  };
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: Answer) {
  const isJson = typeof body !== 'string' && !(Symbol.asyncIterator in body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  if (isJson) response.end(JSON.stringify(body));
  // A stream fails if the client hangs up, which the test expects.
  else
    Readable.from(typeof body === 'string' ? [body] : body)
      .on('error', () => undefined)
      .pipe(response);
}
