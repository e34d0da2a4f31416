import { type RequestHandler, Router } from 'express';
import { hasPublicClientAt } from '../../services/signin/provider/client-row.sql.ts';
import type { Origins } from '../origins.ts';

// Public clients in a browser call these endpoints from their own origin (Fetch, section 3.2). No
// answer allows credentials, so a browser does not send a cookie of idctl.

const described = [
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/.well-known/jwks.json',
];
const called = ['/api/v1/oauth/token', '/api/v1/oauth/revoke', '/oauth/userinfo'];

/** Lets scripts of public clients read the answers of these endpoints; answers preflights. */
export function allowPublicClients({ own, friends }: Origins): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.all(described, (request, response, next) => {
    if (request.headers.origin !== undefined) response.set('Access-Control-Allow-Origin', '*');
    if (isPreflight(request)) answerPreflight(response, 'GET');
    else next();
  });
  router.all(called, async (request, response, next) => {
    const { origin } = request.headers;
    response.vary('Origin');
    if (origin === undefined || origin === own || friends.has(origin)) return next();
    if (!isOrigin(origin) || !(await hasPublicClientAt(origin))) return next();
    response.set('Access-Control-Allow-Origin', origin);
    response.set('Access-Control-Expose-Headers', 'X-Request-Id, Retry-After, WWW-Authenticate');
    if (isPreflight(request)) answerPreflight(response, 'GET, POST');
    else next();
  });
  return router;
}

// RFC 6454: a scheme, a host name of at most 253 characters, and a port.
const longestOrigin = 300;

/** Whether the text is an origin. The database is searched for nothing else. */
function isOrigin(text: string): boolean {
  return text.length <= longestOrigin && URL.parse(text)?.origin === text;
}

type Handled = Parameters<RequestHandler>;

function isPreflight({ method, headers }: Handled[0]): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

function answerPreflight(response: Handled[1], methods: string): void {
  response.set('Access-Control-Allow-Methods', methods);
  response.set('Access-Control-Allow-Headers', 'authorization, content-type');
  response.set('Access-Control-Max-Age', '600').status(204).end();
}
