import { expect } from 'vitest';
import { Event } from '../../src/database/models/event.ts';
import { fresh } from '../support/builders.ts';
import type { Answer, Client } from '../support/http.ts';
import type { Idctl } from '../support/idctl.ts';
import type { LyingProvider } from '../support/lying-provider.ts';
import { connected, start } from '../support/sso.ts';

/** The answer to a failed sign-in. */
export const failed = { status: 401, body: { code: 'signin_failed' }, cookies: [] };

/** A browser on its way to the provider, with the state and nonce of its sign-in. */
export interface Departure {
  browser: Client;
  state: string;
  nonce: string;
}

/** The answer to a sign-in whose provider failed. It hides the provider's address and the cause. */
export const unusable = {
  status: 502,
  cookies: [],
  body: {
    type: 'urn:idctl:problem:provider_failed',
    title: 'Identity provider failed',
    status: 502,
    detail: "The organization's identity provider could not be used.",
    code: 'provider_failed',
    hint: 'Try again later, or ask your administrator.',
    requestId: expect.any(String),
  },
};

/** The reason and message of the last failure of the domain's provider, as admins read them. */
export async function whyUnusable(domain: string) {
  const events = await Event.findAll({
    where: { kind: 'sso.provider.failed' },
    order: [['id', 'DESC']],
  });
  const last = events.find(({ subject }) => subject?.name === domain);
  return { reason: last?.data['reason'], message: last?.data['message'] };
}

/** Starts a sign-in, which sends the browser to the domain's provider. */
export async function departing(idctl: Idctl, domain: string): Promise<Departure> {
  const browser = idctl.client({ keepCookies: true });
  const { searchParams } = new URL(await start(browser, domain));
  return {
    browser,
    state: searchParams.get('state') ?? '',
    nonce: searchParams.get('nonce') ?? '',
  };
}

/** The URL to which the provider sends the browser, with these parameters. */
function callbackWith(idctl: Idctl, parameters: Record<string, string>): string {
  return `${idctl.baseUrl}/auth/sso/callback?${new URLSearchParams(parameters)}`;
}

/** The answer to a browser that comes back with these parameters. */
export function arrive(browser: Client, parameters: Record<string, string>): Promise<Answer> {
  return browser.get(`/auth/sso/callback?${new URLSearchParams(parameters)}`);
}

/** Makes the provider assert this person for every code, with an ID token that has this nonce. */
export async function vouch(
  provider: LyingProvider,
  nonce: string,
  userinfo: Record<string, unknown> & { sub: string },
): Promise<void> {
  const id_token = await provider.sign({ ...provider.claims(nonce), sub: userinfo.sub });
  const body = { access_token: 'at', token_type: 'Bearer', expires_in: 60, id_token };
  provider.answers.token = () => ({ body });
  provider.answers.userinfo = () => ({ body: userinfo });
}

/** Starts a sign-in and prepares the provider's answers. Returns the browser and its callback. */
export async function returning(
  idctl: Idctl,
  provider: LyingProvider,
  options: { domain?: string; claims?: Record<string, unknown> } = {},
) {
  const domain = options.domain ?? (await connected(idctl, provider.issuer)).domain;
  const { browser, state, nonce } = await departing(idctl, domain);
  const sub = fresh('sub');
  const claims = { ...provider.claims(nonce), sub };
  const userinfo = {
    sub,
    email: `${sub}@${domain}`,
    email_verified: true,
    name: 'Eve',
    ...options.claims,
  };
  const idToken = (twist: Record<string, unknown> = {}) => provider.sign({ ...claims, ...twist });
  const answerToken = (id_token?: string) => {
    const body = {
      access_token: 'at',
      token_type: 'Bearer',
      expires_in: 60,
      ...(id_token ? { id_token } : {}),
    };
    provider.answers.token = () => ({ body });
  };
  answerToken(await idToken());
  provider.answers.userinfo = () => ({ body: userinfo });
  const callback = callbackWith(idctl, { code: 'c', state });
  return { domain, browser, callback, state, sub, userinfo, claims, idToken, answerToken };
}
