import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { orderedId } from '../../src/crypto/id.ts';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { Account } from '../../src/database/models/account.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { LdapConnection } from '../../src/database/models/ldap-connection.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { transaction } from '../../src/database/transaction.ts';
import { requireAccount } from '../../src/services/people/accounts/account.ts';
import { registerApp } from '../../src/services/people/apps/operations.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { startTotp } from '../../src/services/people/two-factor/operations.ts';
import { addMapping } from '../../src/services/provisioning/mappings/operations.ts';
import { rotateScimToken, writeScimTokenUses } from '../../src/services/provisioning/scim/token.ts';
import { createClient } from '../../src/services/tenancy/clients/operations.ts';
import { addDomain, verifyDomain } from '../../src/services/tenancy/domains/operations.ts';
import { createInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { saveLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { saveLdapInput } from '../../src/services/tenancy/ldap/schema.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { createOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { putProjectMember } from '../../src/services/tenancy/projects/members.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { createSetupLink } from '../../src/services/tenancy/setup-links/operations.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { listDeliveries } from '../../src/services/tenancy/webhooks/delivery/operations.ts';
import { addWebhook } from '../../src/services/tenancy/webhooks/operations.ts';
import { type Bind, startBind } from './bind.ts';
import { person, signedIn } from './builders.ts';
import { type Idctl, openIdctl } from './idctl.ts';
import { settingsFor } from './ldap.ts';
import { type OpenIdProvider, startOpenIdProvider } from './openid-provider.ts';
import { keepPasskey } from './passkeys.ts';
import { portOf } from './ports.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { providerMetadata } from './saml.ts';
import { samlProvider } from './saml-provider.ts';
import { type Slapd, startSlapd } from './slapd.ts';
import { type Smtp, startSmtp } from './smtp.ts';
import { registration, signInAt } from './sso.ts';

/** A filled SQLite instance, and the servers that it connects to. No process has it open. */
export interface SeededSite {
  /** Contains `idctl.yaml`, the database and the master key; a copy of it is an instance too. */
  folder: string;
  baseUrl: string;
  /** The id of one object of each kind; for an event, its reference. */
  ids: Record<string, string>;
  /** The secret of the TOTP enrolment that was begun for ada@example.com. */
  totpSecret: string;
  provider: OpenIdProvider;
  /** The URL of a SAML provider's metadata. */
  metadataUrl: string;
  slapd: Slapd;
  stop(): Promise<void>;
}

interface Counterparts {
  bind: Bind;
  provider: OpenIdProvider;
  receiver: Receiver;
  slapd: Slapd;
}

const org = 'acme';
const user = 'ada@example.com';

/**
 * Creates the instance of the examples in the documentation: the organization acme, its owner
 * ada@acme.com, its admin ada@example.com, and one object of every kind.
 */
export async function seedSite(): Promise<SeededSite> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-seeded-'));
  const [bind, slapd, smtp, receiver] = await Promise.all([
    startBind('acme.com', 'example.com'),
    startSlapd(),
    startSmtp(),
    startReceiver(),
  ]);
  const started: { stop(): Promise<unknown> }[] = [bind, slapd, smtp, receiver];
  const stop = async () => {
    await Promise.all(started.map((one) => one.stop()));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const keyFile = join(folder, 'master.key');
    await createKeyFile(keyFile);
    const settings = settingsOf(bind, smtp);
    const idctl = await openIdctl(settings, { url: `sqlite:${join(folder, 'idctl.db')}`, keyFile });
    const { baseUrl } = idctl;
    const provider = await startProvider(baseUrl);
    started.push(provider);
    const metadata = await serveMetadata();
    started.push(metadata);
    const seeded = await seed(idctl, { bind, slapd, provider, receiver }).finally(() =>
      idctl.close(),
    );
    const places = { database: { url: 'sqlite:idctl.db' }, keyFile: 'master.key' };
    const config = { listen: new URL(baseUrl).host, baseUrl, ...places, ...settings };
    // JSON is also YAML.
    await writeFile(join(folder, 'idctl.yaml'), JSON.stringify(config));
    return { folder, baseUrl, ...seeded, provider, metadataUrl: metadata.url, slapd, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function settingsOf({ resolverUrl, caFile }: Bind, { url }: Smtp) {
  return {
    outbound: { allow: ['127.0.0.1'] },
    doh: { resolverUrl, caFile },
    mail: { smtpUrl: url },
  };
}

async function serveMetadata() {
  const metadata = providerMetadata((await samlProvider()).key.certificate);
  const server = createServer((_request, response) => response.end(metadata));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}/metadata`,
    stop: async () => server.close().closeAllConnections(),
  };
}

function startProvider(baseUrl: string): Promise<OpenIdProvider> {
  const { clientId, clientSecret } = registration;
  const redirect_uris = [`${baseUrl}/auth/sso/callback`];
  return startOpenIdProvider({
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris }],
    people: {
      ada: { email: 'ada@acme.com', email_verified: true, name: 'Ada', groups: ['Staff'] },
    },
  });
}

async function seed(idctl: Idctl, { bind, slapd, provider, receiver }: Counterparts) {
  const operator = idctl.operator();
  const { id } = await createOrganization(operator, { name: 'Acme Ltd', slug: org });
  for (const [email, role] of [
    ['ada@acme.com', 'owner'],
    [user, 'admin'],
  ] as const) {
    await person(idctl, email);
    await addMember(operator, { org, email, role });
  }
  const webhook = await addWebhook(operator, addWebhook.input.parse({ org, url: receiver.url }));
  await createProject(operator, { org, name: 'Website', slug: 'website' });
  await putProjectMember(operator, { org, project: 'website', user, role: 'viewer' });
  const mapped = { org, group: 'Staff', project: 'website', role: 'viewer' } as const;
  const mapping = await addMapping(operator, mapped);
  const redirectUris = ['http://localhost:3000/login/generic_oauth'];
  await createClient(operator, createClient.input.parse({ org, name: 'Grafana', redirectUris }));
  await proveDomains(idctl, bind);
  await connect(idctl, { slapd, provider });
  await provision(idctl, id);
  await signedIn(idctl, user);
  const wrong = { email: user, password: 'not the password' };
  const refused = await idctl.client().post('/api/v1/auth/login', wrong);
  const invited = await createInvitation(operator, {
    org,
    email: 'ina@example.com',
    role: 'member',
  });
  const link = await createSetupLink(
    operator,
    createSetupLink.input.parse({ org, for: ['domain'] }),
  );
  const { secret: totpSecret } = await startTotp.forOperator(
    operator,
    startTotp.forOperator.input.parse({ user }),
  );
  const deliveries = await listDeliveries(operator, { org, id: webhook.id, limit: 1 });
  const ids = {
    pat: (await createToken(operator, { user, name: 'ci' })).id,
    passkey: await keepPasskey((await requireAccount(user)).id),
    app: (await registerApp(operator, { user, name: 'gateway' })).id,
    invitation: invited.id,
    mappings: mapping.id,
    webhook: webhook.id,
    delivery: deliveries.items[0]?.id ?? '',
    event: String(refused.body.requestId),
    'setup-link': link.id,
  };
  return { ids, totpSecret };
}

/** Verifies acme.com. new.acme.com stays pending, with its TXT record published. */
async function proveDomains(idctl: Idctl, bind: Bind): Promise<void> {
  for (const domain of ['acme.com', 'new.acme.com']) {
    const { txtRecord } = await addDomain(idctl.operator(), { org, domain });
    await bind.publishTxt(domain, txtRecord.value);
  }
  await verifyDomain(idctl.operator(), { org, domain: 'acme.com' });
}

/** Enables both connections, signs ada@acme.com in, and links ada@example.com to both. */
async function connect(
  idctl: Idctl,
  { slapd, provider }: Pick<Counterparts, 'slapd' | 'provider'>,
) {
  const at = { org, emailDomain: 'acme.com', issuer: provider.issuer, enabled: true };
  await slapd.person('ada', { mail: 'ada@acme.com', givenName: 'Ada' });
  await saveSso(idctl.operator(), saveSsoInput.parse({ ...at, ...registration }));
  await saveLdap(
    idctl.operator(),
    saveLdapInput.parse({ org, enabled: true, ...settingsFor(slapd) }),
  );
  const { answer } = await signInAt(idctl, provider, 'acme.com', 'ada');
  if (answer.status >= 400) throw new Error(`the sign-in answered ${answer.status}`);
  await link(user);
}

/** Links an account to both connections. A sign-in could not: its domain is not verified. */
async function link(email: string): Promise<void> {
  const sso = await SsoConnection.findOne({ rejectOnEmpty: true });
  const ldap = await LdapConnection.findOne({ rejectOnEmpty: true });
  const { id: accountId } = await Account.findOne({ where: { email }, rejectOnEmpty: true });
  const { organizationId, issuer } = sso;
  const row = { accountId, organizationId, subject: 'ada.byron', linkedAt: new Date() };
  const directory = { connectionId: ldap.id, issuer: 'dn', server: '127.0.0.1' };
  await transaction(() =>
    Identity.bulkCreate([
      { ...row, id: orderedId(), kind: 'sso', connectionId: sso.id, issuer },
      { ...row, id: orderedId(), kind: 'ldap', ...directory },
    ]),
  );
}

async function provision(idctl: Idctl, id: string): Promise<void> {
  const { token } = await rotateScimToken(idctl.operator(), { org });
  const made = await idctl.client().send('POST', `/scim/v2/orgs/${id}/Users`, {
    body: { userName: 'sam@acme.com', emails: [{ value: 'sam@acme.com', primary: true }] },
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
  });
  if (made.status !== 201) throw new Error(`SCIM answered ${made.status}`);
  // The daemon does this periodically.
  await writeScimTokenUses(idctl.as({ kind: 'system', name: 'scim' }));
}
