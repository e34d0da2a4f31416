import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { type ClientMetadata, type Configuration } from 'oidc-provider';
import { portOf } from './ports.ts';

/** The claims of a person at the provider; an absent claim is not sent. */
interface Person {
  email?: string;
  email_verified?: boolean | string;
  /** At Google, the domain of the organization that manages the account. */
  hd?: string;
  name?: string;
  groups?: unknown;
}

/** oidc-provider, in this process, on plain http: idctl needs `outbound.allow: [127.0.0.1]`. */
export interface OpenIdProvider {
  issuer: string;
  /** The people by account id, which is also the `sub`. Tests may change them between sign-ins. */
  people: Map<string, Person>;
  /**
   * Signs a person in as a browser would, and returns the callback URL to which the provider
   * redirects.
   */
  signIn(authorizationUrl: string, accountId: string): Promise<string>;
  stop(): Promise<void>;
}

interface Options {
  /**
   * The clients registered at the provider: `client_id`, `client_secret`, `redirect_uris` and the
   * fields that a test varies.
   */
  clients: ClientMetadata[];
  people?: Record<string, Person>;
  /** Further configuration of oidc-provider. */
  configuration?: Configuration;
}

/** Starts the provider on a free port. */
export async function startOpenIdProvider(options: Options): Promise<OpenIdProvider> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${portOf(server)}`;
  const people = new Map(Object.entries(options.people ?? {}));
  const provider = new Provider(issuer, await configurationOf(options, people));
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/')) void interact(provider, request, response);
    else void answer(request, response);
  });
  return {
    issuer,
    people,
    signIn: (url, accountId) => walk(url, issuer, accountId),
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function configurationOf(
  { clients, configuration }: Options,
  people: Map<string, Person>,
): Promise<Configuration> {
  return {
    clients,
    jwks: { keys: await Promise.all(['RS256', 'PS256', 'ES256', 'EdDSA'].map(signingKey)) },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
    cookies: { keys: ['only for tests'] },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified', 'hd'],
      profile: ['name', 'groups'],
    },
    features: { devInteractions: { enabled: false } },
    renderError: (ctx, { error, error_description }) => {
      ctx.body = { error, error_description };
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    // Skips the page that asks for consent, because the tests are about signing in.
    async loadExistingGrant({ oidc }) {
      const { client, session, provider } = oidc;
      if (!client || !session?.accountId) return undefined;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
    findAccount: (_, accountId) => ({
      accountId,
      claims: () => ({ sub: accountId, ...people.get(accountId) }),
    }),
    ...configuration,
  };
}

async function signingKey(alg: string) {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), alg, use: 'sig', kid: alg };
}

const accountHeader = 'x-sign-in-as';

async function interact(provider: Provider, request: IncomingMessage, response: ServerResponse) {
  const accountId = String(request.headers[accountHeader]);
  await provider.interactionFinished(request, response, { login: { accountId } });
}

/** Follows the provider's redirects with a cookie jar, and returns the first address elsewhere. */
async function walk(start: string, issuer: string, accountId: string): Promise<string> {
  const jar = new Map<string, string>();
  let url = start;
  for (let step = 0; step < 10; step += 1) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie, [accountHeader]: accountId },
    });
    for (const line of response.headers.getSetCookie()) keep(jar, line);
    const location = response.headers.get('location');
    if (location === null) throw new Error(`no redirect from ${url}: ${await response.text()}`);
    url = new URL(location, url).href;
    if (!url.startsWith(`${issuer}/`)) return url;
  }
  throw new Error('the provider redirects without end');
}

function keep(jar: Map<string, string>, line: string) {
  const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/);
  if (value === '') jar.delete(name);
  else jar.set(name, value);
}
