import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Answer, Client } from './http.ts';
import type { Idctl, openIdctl } from './idctl.ts';
import { type OpenIdProvider, startOpenIdProvider } from './openid-provider.ts';
import { portOf } from './ports.ts';
import { comeBack } from './sso.ts';

type Given = Parameters<typeof openIdctl>[0] & object;

/** The instance's client id at both providers. */
export const clientId = 'idctl at the provider';
const clientSecret = 'a secret of the provider';

/** A person at GitHub. */
interface GitHubPerson {
  login: string;
  name?: string | null;
  emails: { email: string; primary: boolean; verified: boolean }[];
}

/** The part of GitHub's API that idctl uses, on plain http. */
export interface GitHub {
  baseUrl: string;
  /** The people by user id. Tests may change them between sign-ins. */
  people: Map<number, GitHubPerson>;
  /** Consents for the person, and returns the callback URL to which GitHub redirects. */
  signIn(authorizationUrl: string, id: number): string;
  stop(): Promise<void>;
}

/** Starts a fake GitHub on a free port. */
async function startGitHub(): Promise<GitHub> {
  const people: GitHub['people'] = new Map();
  const granted = new Map<string, { id: number; asked: URLSearchParams }>();
  const tokens = new Map<string, number>();
  const server = createServer((request, response) => {
    const answering =
      request.url === '/login/oauth/access_token'
        ? exchange(request, granted, tokens)
        : look(request, people, tokens);
    void answering.then((body) => reply(response, body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${portOf(server)}`,
    people,
    signIn(url, id) {
      const asked = new URL(url).searchParams;
      const code = randomBytes(20).toString('hex');
      granted.set(code, { id, asked });
      const back = new URL(asked.get('redirect_uri') ?? '');
      back.search = new URLSearchParams({ code, state: asked.get('state') ?? '' }).toString();
      return back.href;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function reply(response: ServerResponse, body: object | null): void {
  response.writeHead(body === null ? 401 : 200, {
    'content-type': 'application/json; charset=utf-8',
  });
  response.end(JSON.stringify(body ?? { message: 'Bad credentials' }));
}

/**
 * Exchanges a code for an access token. The code is valid once, with its client, redirect URI and
 * PKCE verifier. An error has status 200.
 */
async function exchange(
  request: IncomingMessage,
  granted: Map<string, { id: number; asked: URLSearchParams }>,
  tokens: Map<string, number>,
): Promise<object> {
  const form = new URLSearchParams(await text(request));
  const code = form.get('code') ?? '';
  const grant = granted.get(code);
  granted.delete(code);
  const challenge = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url');
  const right =
    form.get('client_id') === clientId &&
    form.get('client_secret') === clientSecret &&
    form.get('redirect_uri') === grant?.asked.get('redirect_uri') &&
    challenge === grant?.asked.get('code_challenge');
  if (grant === undefined || !right) return { error: 'bad_verification_code' };
  const token = `gho_${randomBytes(18).toString('hex')}`;
  tokens.set(token, grant.id);
  return { access_token: token, scope: 'read:user,user:email', token_type: 'bearer' };
}

async function look(
  { url = '', headers }: IncomingMessage,
  people: GitHub['people'],
  tokens: Map<string, number>,
): Promise<object | null> {
  const id = tokens.get(headers.authorization?.replace(/^Bearer /, '') ?? '') ?? 0;
  const person = people.get(id);
  if (person === undefined || headers['user-agent'] === undefined) return null;
  if (url === '/api/v3/user') return { id, login: person.login, name: person.name ?? null };
  return url.startsWith('/api/v3/user/emails') ? person.emails : null;
}

/** Both social providers, each on loopback, and the settings of an instance that uses them. */
export interface SocialProviders {
  google: OpenIdProvider;
  github: GitHub;
  settings: ReturnType<typeof settingsOf>;
  stop(): Promise<void>;
}

/** Starts both providers, for an instance at this URL. */
export async function startSocial(baseUrl: string): Promise<SocialProviders> {
  const github = await startGitHub();
  const redirect_uris = [`${baseUrl}/auth/social/google/callback`];
  const google = await startOpenIdProvider({
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris }],
  });
  return {
    google,
    github,
    settings: settingsOf(google, github),
    async stop() {
      await google.stop();
      await github.stop();
    },
  };
}

function settingsOf({ issuer }: OpenIdProvider, { baseUrl }: GitHub) {
  return {
    google: { clientId, clientSecret, issuer },
    github: { clientId, clientSecret, baseUrl },
  };
}

/** Both social providers, and an instance that uses them. */
export interface Social<Opened extends Idctl = Idctl> {
  idctl: Opened;
  google: OpenIdProvider;
  github: GitHub;
  close(): Promise<void>;
}

/** Starts both providers, and opens the instance with `open`. */
export async function openSocial<Opened extends Idctl>(
  open: (given: Given) => Promise<Opened>,
  given: Given = {},
): Promise<Social<Opened>> {
  // The providers need the base URL before the instance has a port.
  const baseUrl = 'https://id.example.test';
  const { google, github, settings, stop } = await startSocial(baseUrl);
  const idctl = await open({ baseUrl, social: settings, ...given });
  return {
    idctl,
    google,
    github,
    async close() {
      await idctl.close();
      await stop();
    },
  };
}

/** Makes the instance treat the fake Google as Google itself, by its issuer. */
export function asGoogleItself({ idctl: { app }, google }: Social): void {
  const { config, outbound } = app;
  const named = { ...config.social.google, issuer: 'https://accounts.google.com' };
  app.config = { ...config, social: { ...config.social, google: named } };
  const there = <Asked extends { issuer: string }>(client: Asked) => ({
    ...client,
    issuer: google.issuer,
  });
  app.outbound = {
    ...outbound,
    socialUrl: (client, request) => outbound.socialUrl(there(client), request),
    redeemSocial: async (client, response) => ({
      ...(await outbound.redeemSocial(there(client), response)),
      issuer: client.issuer,
    }),
  };
}

/** Begins a social sign-in and returns the authorization URL. */
export async function startAt(
  client: Client,
  provider: 'google' | 'github',
  more = '',
): Promise<string> {
  const answer = await client.get(`/auth/social/${provider}/start${more}`);
  if (answer.status !== 200) throw new Error(`start answered ${answer.status}`);
  return answer.body.authorizationUrl;
}

/** Signs in a person at Google, by default in a new browser. */
export async function withGoogle(
  { idctl, google }: { idctl: Pick<Idctl, 'client'>; google: OpenIdProvider },
  sub: string,
  client: Client = idctl.client({ keepCookies: true }),
): Promise<{ client: Client; answer: Answer }> {
  const callback = await google.signIn(await startAt(client, 'google'), sub);
  return { client, answer: await comeBack(client, callback) };
}

/** Signs in a person at GitHub, by default in a new browser. */
export async function withGitHub(
  { idctl, github }: { idctl: Pick<Idctl, 'client'>; github: GitHub },
  id: number,
  client: Client = idctl.client({ keepCookies: true }),
): Promise<{ client: Client; answer: Answer }> {
  const callback = github.signIn(await startAt(client, 'github'), id);
  return { client, answer: await comeBack(client, callback) };
}
