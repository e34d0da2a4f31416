import { expect } from 'vitest';
import { Event } from '../../src/database/models/event.ts';
import { fresh } from '../support/builders.ts';
import type { Answer, Client } from '../support/http.ts';
import type { Idctl } from '../support/idctl.ts';
import type { LyingProvider } from '../support/lying-provider.ts';
import { connected, start } from '../support/sso.ts';

/** What a sign-in that fails looks like from outside. */
export const failed = { status: 401, body: { code: 'signin_failed' }, cookies: [] };

/** What the browser carries on its way to the provider. */
export interface Departure {
  browser: Client;
  state: string;
  nonce: string;
}

/** What a sign-in looks like from outside when the provider is at fault: no word of where it is, or why. */
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

/** Why the domain's provider could not be used, as its admins are told: the last reason, and all that is said of it. */
export async function whyUnusable(domain: string) {
  const events = await Event.findAll({
    where: { kind: 'sso.provider.failed' },
    order: [['id', 'DESC']],
  });
  const last = events.find(({ subject }) => subject?.name === domain);
  return { reason: last?.data['reason'], message: last?.data['message'] };
}

/** Someone whose browser has been sent to the provider of the domain. */
export async function departing(idctl: Idctl, domain: string): Promise<Departure> {
  const browser = idctl.client({ keepCookies: true });
  const { searchParams } = new URL(await start(browser, domain));
  return {
    browser,
    state: searchParams.get('state') ?? '',
    nonce: searchParams.get('nonce') ?? '',
  };
}

/** Where the provider sends the browser: the callback with these parameters. */
function callbackWith(idctl: Idctl, parameters: Record<string, string>): string {
  return `${idctl.baseUrl}/auth/sso/callback?${new URLSearchParams(parameters)}`;
}

/** The answer to a browser that comes back with these parameters. */
export function arrive(browser: Client, parameters: Record<string, string>): Promise<Answer> {
  return browser.get(`/auth/sso/callback?${new URLSearchParams(parameters)}`);
}

/** Makes the provider vouch for this person to whoever redeems a code of this nonce; claims may be twisted. */
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

/** Someone who has come back from the provider: the callback, and the browser that started. */
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
