import { HostTicket } from '../../src/database/models/host-session.ts';
import { transaction } from '../../src/database/transaction.ts';
import { browserAt, enter, fetchTicket, verify } from '../support/forward-auth.ts';
import type { MailingIdctl } from '../support/mail.ts';

// Ada's organization has an application, and forward auth protects its host.

/** The application's redirect URI. */
export const redirect = 'https://reader.example.test/callback';
/** The PKCE verifier of the application's requests. */
export const verifier = 'a'.repeat(43);

/** Ada creates a client, and opens its host in her password session. */
export async function playClient(
  idctl: MailingIdctl,
  { org, domain, own, byPassword }: Record<'org' | 'domain' | 'own' | 'byPassword', string>,
) {
  const origin = `https://app.${domain}`;
  const settings = { name: 'App', forwardAuthOrigins: [origin], redirectUris: [redirect] };
  const headers = { authorization: `Bearer ${own}` };
  const made = await idctl.client().post(`/api/v1/orgs/${org}/clients`, settings, headers);
  const { clientId, clientSecret } = made.body;
  const signedIn = idctl.client({ keepCookies: true });
  signedIn.jar.set('access_token', byPassword);
  const browser = browserAt(idctl, origin);
  await enter(browser, signedIn);
  const ticket = await fetchTicket(browserFrom(idctl, origin, browser.jar), signedIn);
  // The ticket must not expire while the tests run.
  const expiresAt = new Date(Date.now() + 86_400_000);
  await transaction(() => HostTicket.update({ expiresAt }, { where: { origin } }));
  const cookies = Object.fromEntries(browser.jar);
  return { clientId: String(clientId), secret: String(clientSecret), origin, cookies, ticket };
}

/** A browser with the flow cookie from the jar, but without the cookie of the host. */
function browserFrom(idctl: MailingIdctl, origin: string, jar: Map<string, string>) {
  const browser = browserAt(idctl, origin);
  for (const [name, value] of jar) if (name.endsWith('-flow')) browser.jar.set(name, value);
  return browser;
}

interface Stage {
  idctl: MailingIdctl;
  scene: { client: Awaited<ReturnType<typeof playClient>> };
}

/** Whether the client's secret still works. The code in the request was never issued. */
export async function provesClient({ idctl, scene }: Stage): Promise<boolean> {
  const { clientId: client_id, secret: client_secret } = scene.client;
  const given = { client_id, client_secret, code: 'x'.repeat(43), redirect_uri: redirect };
  const asked = { ...given, grant_type: 'authorization_code', code_verifier: verifier };
  const { status, body } = await idctl.client().form('/api/v1/oauth/token', asked);
  if (status === 401 && body.error === 'invalid_client') return false;
  if (status === 400 && body.error === 'invalid_grant') return true;
  throw new Error(`a client secret was answered ${status} ${JSON.stringify(body)}`);
}

/** Whether the cookie of the protected host still works. */
export async function opensHost({ idctl, scene }: Stage): Promise<boolean> {
  const { origin, cookies } = scene.client;
  const browser = browserAt(idctl, origin);
  for (const [name, value] of Object.entries(cookies)) browser.jar.set(name, value);
  return (await verify(browser)).status === 200;
}

/** Whether the ticket to the protected host still works. */
export async function landsAtHost({ idctl, scene }: Stage): Promise<boolean> {
  const { origin, cookies, ticket } = scene.client;
  const browser = browserFrom(idctl, origin, new Map(Object.entries(cookies)));
  return (await browser.get(ticket)).status === 302;
}
