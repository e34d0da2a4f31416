import { hashOfSecret } from '../../src/crypto/secret.ts';
import { Client } from '../../src/database/models/client.ts';
import { HostTicket } from '../../src/database/models/host-session.ts';
import { transaction } from '../../src/database/transaction.ts';
import { rowIdOf } from '../../src/services/tenancy/clients/client.ts';
import { browserAt, enter, fetchTicket, verify } from '../support/forward-auth.ts';
import type { MailingIdctl } from '../support/mail.ts';

// An application of Ada's organization, and the host before which a proxy asks idctl.

/** Ada makes a client, and comes to its host with her session by password. */
export async function playClient(
  idctl: MailingIdctl,
  { org, domain, own, byPassword }: Record<'org' | 'domain' | 'own' | 'byPassword', string>,
) {
  const origin = `https://app.${domain}`;
  const redirectUris = ['https://reader.example.test/callback'];
  const settings = { name: 'App', forwardAuthOrigins: [origin], redirectUris };
  const headers = { authorization: `Bearer ${own}` };
  const made = await idctl.client().post(`/api/v1/orgs/${org}/clients`, settings, headers);
  const { clientId, clientSecret } = made.body;
  const signedIn = idctl.client({ keepCookies: true });
  signedIn.jar.set('access_token', byPassword);
  const browser = browserAt(idctl, origin);
  await enter(browser, signedIn);
  const ticket = await fetchTicket(browserFrom(idctl, origin, browser.jar), signedIn);
  // However long the tests take, it does not expire.
  const expiresAt = new Date(Date.now() + 86_400_000);
  await transaction(() => HostTicket.update({ expiresAt }, { where: { origin } }));
  const cookies = Object.fromEntries(browser.jar);
  return { clientId: String(clientId), secret: String(clientSecret), origin, cookies, ticket };
}

/** The same browser, but for the cookie of the host. */
function browserFrom(idctl: MailingIdctl, origin: string, jar: Map<string, string>) {
  const browser = browserAt(idctl, origin);
  for (const [name, value] of jar) if (name.endsWith('-flow')) browser.jar.set(name, value);
  return browser;
}

interface Stage {
  idctl: MailingIdctl;
  scene: { client: Awaited<ReturnType<typeof playClient>> };
}

/** Uses the secret of the client. */
export async function provesClient({ scene }: Pick<Stage, 'scene'>): Promise<boolean> {
  const { clientId, secret } = scene.client;
  const client = await Client.findByPk(rowIdOf(clientId) ?? '');
  const hash = hashOfSecret('cos_secret_', secret);
  return client !== null && client.suspendedAt === null && client.secretHash === hash;
}

/** Uses the cookie of the protected host. */
export async function opensHost({ idctl, scene }: Stage): Promise<boolean> {
  const { origin, cookies } = scene.client;
  const browser = browserAt(idctl, origin);
  for (const [name, value] of Object.entries(cookies)) browser.jar.set(name, value);
  return (await verify(browser)).status === 200;
}

/** Uses the ticket to the protected host. */
export async function landsAtHost({ idctl, scene }: Stage): Promise<boolean> {
  const { origin, cookies, ticket } = scene.client;
  const browser = browserFrom(idctl, origin, new Map(Object.entries(cookies)));
  return (await browser.get(ticket)).status === 302;
}
