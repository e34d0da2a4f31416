import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { type Operated, organization, verifiedDomain } from './builders.ts';
import type { Answer, Client } from './http.ts';
import type { Idctl } from './idctl.ts';
import type { OpenIdProvider } from './openid-provider.ts';

/** The client that the tests' connections use at their providers. */
export const registration = { clientId: 'idctl', clientSecret: 'a secret of the provider' };

/** Creates an organization with a verified domain and an enabled connection to the provider. */
export async function connected(
  idctl: Operated,
  issuer: string,
  more: Record<string, unknown> = {},
) {
  const org = await organization(idctl);
  const domain = await verifiedDomain(idctl, org.slug);
  const input = {
    org: org.slug,
    emailDomain: domain,
    issuer,
    ...registration,
    enabled: true,
    ...more,
  };
  const connection = await saveSso(idctl.operator(), saveSsoInput.parse(input));
  return { org, domain, connection };
}

/** Starts a sign-in and returns the authorization URL. */
export async function start(client: Client, domain: string, more = ''): Promise<string> {
  const answer = await client.get(`/auth/sso/start?domain=${domain}${more}`);
  if (answer.status !== 200)
    throw new Error(`start answered ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.authorizationUrl;
}

/** Opens the callback URL to which the provider redirects. */
export function comeBack(
  client: Client,
  callback: string,
  headers?: Record<string, string>,
): Promise<Answer> {
  const { pathname, search } = new URL(callback);
  return client.get(pathname + search, headers);
}

/** Runs a whole sign-in of a person at the provider. */
export async function signInAt(
  idctl: Pick<Idctl, 'client'>,
  provider: OpenIdProvider,
  domain: string,
  person: string,
) {
  const client = idctl.client({ keepCookies: true });
  const callback = await provider.signIn(await start(client, domain), person);
  return { client, answer: await comeBack(client, callback) };
}
