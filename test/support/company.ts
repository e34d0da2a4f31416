import { decodeJwt } from 'jose';
import type { Context } from '../../src/context.ts';
import { orderedId } from '../../src/crypto/id.ts';
import { Account } from '../../src/database/models/account.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { LdapConnection } from '../../src/database/models/ldap-connection.ts';
import type { ProjectRole } from '../../src/database/models/project.ts';
import { ProviderRecord } from '../../src/database/models/provider-record.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { transaction } from '../../src/database/transaction.ts';
import { pathKeys } from '../../src/http/route.ts';
import { addMapping } from '../../src/services/provisioning/mappings/operations.ts';
import { insertGroup } from '../../src/services/provisioning/scim/groups/write.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { recordRefusedSignIn } from '../../src/services/signin/refused.ts';
import { rowIdOf } from '../../src/services/tenancy/clients/client.ts';
import { createClient } from '../../src/services/tenancy/clients/operations.ts';
import { addDomain } from '../../src/services/tenancy/domains/operations.ts';
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
import { password } from './builders.ts';
import type { Idctl } from './idctl.ts';
import { type Person, signedInAs } from './instance.ts';

/**
 * An organization with a person in each role, a domain and two connections, and two people who are
 * not its members.
 */
export interface Company {
  instance: Idctl;
  member: Person;
  /** A member who is admin of the project `website`, which `victim` can view. */
  projectAdmin: Person;
  admin: Person;
  owner: Person;
  stranger: Person;
  /** Owns another organization. */
  foreigner: Person;
  /** The id of a group that SCIM pushed. */
  group: string;
  /** The id of a mapping to `website`. */
  mapping: string;
  /** The id of a webhook. */
  webhook: string;
  /** The id of a delivery to the webhook. */
  delivery: string;
  /** The id of an invitation that has not been accepted. */
  invitation: string;
  /** The id of a setup link. */
  setupLink: string;
  /** The id of a client that each of these people is signed in to. */
  clientId: string;
  /** The reference of a refused sign-in of `victim`. */
  reference: string;
}

/** Creates the organization `acme` with its people and objects, and the organization `rival`. */
export async function foundCompany(instance: Idctl): Promise<Company> {
  const operator = instance.operator();
  const person = (name: string) => signedInAs(instance, `${name}@acme.test`);
  const hire = async (org: string, role: 'member' | 'admin' | 'owner', name: string) => {
    const hired = await person(name);
    await addMember(operator, { org, email: hired.email, role });
    return hired;
  };
  const acme = await createOrganization(operator, { name: 'Acme' });
  await createOrganization(operator, { name: 'Rival' });
  const people = {
    owner: await hire('acme', 'owner', 'olga'),
    admin: await hire('acme', 'admin', 'adam'),
    member: await hire('acme', 'member', 'mia'),
    projectAdmin: await hire('acme', 'member', 'pia'),
    stranger: await person('sam'),
    foreigner: await hire('rival', 'owner', 'fay'),
  };
  // The victim is an admin, so that the sample that sets the role `member` changes something.
  await hire('acme', 'admin', 'victim');
  await startProject(operator, { 'pia@acme.test': 'admin', 'victim@acme.test': 'viewer' });
  await addDomain(operator, { org: 'acme', domain: 'acme.test' });
  await saveSso(operator, saveSsoInput.parse({ org: 'acme', ...connection }));
  await saveLdap(operator, saveLdapInput.parse({ org: 'acme', ...directory }));
  await rotateScimToken(operator, { org: 'acme' });
  const invitation = await createInvitation(operator, {
    org: 'acme',
    email: 'ina@acme.test',
    role: 'member',
  });
  await linkBothWays('victim@acme.test', acme.id);
  const webhook = await startWebhook(operator);
  const made = await Promise.all(
    ['Wiki', 'Board'].map((name) => {
      const redirectUris = [`https://${name.toLowerCase()}.acme.test/`];
      return createClient(operator, createClient.input.parse({ org: 'acme', name, redirectUris }));
    }),
  );
  const clientId = made[1]?.clientId ?? '';
  const mapping = await addMapping(operator, { ...mapped, org: 'acme', group: 'Staff' });
  for (const one of Object.values(people)) await signInTo(clientId, one);
  const pushed = { displayName: 'Pushed', externalId: null, members: new Map() };
  const { id: group } = await transaction(() => insertGroup(operator, acme.id, pushed));
  const refused: Context = { ...operator, actor: { kind: 'anonymous' } };
  const account = await Account.findOne({ where: { email: 'victim@acme.test' } });
  await recordRefusedSignIn(refused, { method: 'password', account, reason: 'wrong_password' });
  const { requestId: reference } = refused;
  const setupLink = await createSetupLink(
    operator,
    createSetupLink.input.parse({ org: 'acme', for: ['domain'] }),
  );
  const ids = {
    ...{ group, mapping: mapping.id, invitation: invitation.id, setupLink: setupLink.id },
    ...{ clientId, reference },
  };
  return { instance, ...people, ...webhook, ...ids };
}

/** Adds the grant that a sign-in to the client leaves for the person's session. */
function signInTo(clientId: string, { id, accessToken }: Person): Promise<unknown> {
  const grantId = `grant of ${id}`;
  const sessionId = String(decodeJwt(accessToken)['sid']);
  const row = { sessionId, clientId: rowIdOf(clientId) ?? '', payload: {} };
  const expiresAt = new Date(Date.now() + 86_400_000);
  return transaction(() =>
    ProviderRecord.create({ ...row, id: grantId, grantId, model: 'Grant', expiresAt }),
  );
}

const connection = {
  emailDomain: 'acme.test',
  issuer: 'https://idp.acme.test',
  clientId: 'c',
  clientSecret: 's',
};

const directory = {
  uri: 'ldaps://ldap.acme.test',
  bindDn: 'cn=idctl,dc=acme,dc=test',
  bindPassword: 's',
  searchBase: 'dc=acme,dc=test',
  searchFilter: '(uid={username})',
  emailAttribute: 'mail',
};

/** Links an account through both connections of the organization. */
async function linkBothWays(email: string, organizationId: string): Promise<void> {
  const where = { organizationId };
  const sso = await SsoConnection.findOne({ where, rejectOnEmpty: true });
  const ldap = await LdapConnection.findOne({ where, rejectOnEmpty: true });
  const { id: accountId } = await Account.findOne({ where: { email }, rejectOnEmpty: true });
  const row = { accountId, organizationId, subject: 'victim', linkedAt: new Date() };
  await transaction(() =>
    Identity.bulkCreate([
      { ...row, id: orderedId(), kind: 'sso', connectionId: sso.id, issuer: connection.issuer },
      {
        ...row,
        id: orderedId(),
        kind: 'ldap',
        connectionId: ldap.id,
        issuer: 'dn',
        server: 'ldap.acme.test',
      },
    ]),
  );
}

const mapped = { project: 'website', role: 'viewer' } as const;

async function startWebhook(operator: Context): Promise<{ webhook: string; delivery: string }> {
  const { id } = await addWebhook(
    operator,
    addWebhook.input.parse({ org: 'acme', url: 'https://hooks.acme.test/' }),
  );
  const { items } = await listDeliveries(operator, { org: 'acme', id, limit: 1 });
  return { webhook: id, delivery: items[0]?.id ?? '' };
}

async function startProject(operator: Context, people: Record<string, ProjectRole>): Promise<void> {
  const { slug: project } = await createProject(operator, { org: 'acme', name: 'Website' });
  for (const [user, role] of Object.entries(people)) {
    await putProjectMember(operator, { org: 'acme', project, user, role });
  }
}

/** The input of one route, for the tests that call every route. */
export interface Sample {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: Record<string, unknown>;
  /** A form, sent instead of a JSON body. */
  form?: Record<string, string>;
}

const planned = { idctl: 1, projects: [{ slug: 'planned', name: 'Planned' }] };

const noClient = { client_id: 'app-none', client_secret: 'none' };

const credential = { id: 'AAAA', rawId: 'AAAA', type: 'public-key' };
const answered = {
  ...credential,
  response: { clientDataJSON: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' },
};
const registered = {
  ...credential,
  response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA' },
};

/** A well-formed input for each route with fields. `keysOf` has the values for its path. */
export const samples: Record<string, Sample> = {
  'POST /api/v1/auth/login': { body: { email: 'olga@acme.test', password: 'not the password' } },
  'POST /api/v1/auth/signup': {
    body: { email: 'new@elsewhere.test', password: 'correct horse battery', name: 'New' },
  },
  'POST /api/v1/auth/verify-email': { body: { email: 'sam@acme.test', code: '000000' } },
  'POST /api/v1/auth/verify-email/resend': { body: { email: 'sam@acme.test' } },
  'POST /api/v1/auth/magic-code': { body: { email: 'sam@acme.test' } },
  'POST /api/v1/auth/magic-code/verify': { body: { email: 'sam@acme.test', code: '000000' } },
  'POST /api/v1/auth/password/reset': { body: { email: 'sam@acme.test' } },
  'POST /api/v1/auth/password/reset/confirm': {
    body: { email: 'sam@acme.test', code: '000000', newPassword: 'a staple of another kind' },
  },
  'POST /api/v1/orgs/:org/invitations': { body: { email: 'guest@acme.test', role: 'member' } },
  'POST /api/v1/orgs/:org/setup-links': { body: { for: ['domain', 'sso'] } },
  'POST /api/v1/invitations/accept': { body: { token: 'none' } },
  'POST /api/v1/auth/refresh': { body: { refreshToken: 'none' } },
  'POST /api/v1/auth/logout': { body: {} },
  'POST /api/v1/me/password': {
    body: { currentPassword: password, newPassword: 'a staple of another kind' },
  },
  'POST /api/v1/me/email': { body: { email: 'new@elsewhere.test' } },
  'POST /api/v1/me/email/confirm': { body: { email: 'new@elsewhere.test', code: '000000' } },
  'POST /api/v1/me/tokens': {
    body: { name: 'ci', description: 'for the builds', expiresInDays: 30 },
  },
  'POST /api/v1/me/apps': { body: { name: 'builder' } },
  'PATCH /api/v1/me/apps/:id': { body: { organization: 'acme' } },
  'POST /api/v1/oauth/token': {
    form: { ...noClient, grant_type: 'client_credentials' },
  },
  'POST /api/v1/oauth/introspect': { form: { ...noClient, token: 'none' } },
  'POST /api/v1/oauth/revoke': { form: { ...noClient, token: 'none' } },
  'POST /api/v1/auth/passkey': { body: { credential: answered } },
  'POST /api/v1/auth/confirm': { body: { password } },
  'POST /api/v1/auth/second-factor': { body: { totpCode: '000000' } },
  'POST /api/v1/me/passkeys': { body: { name: 'Laptop', credential: registered } },
  'PATCH /api/v1/me/passkeys/:id': { body: { name: 'Laptop' } },
  'POST /api/v1/me/totp/confirm': { body: { code: '000000' } },
  'POST /api/v1/me/totp/disable': { body: { code: '000000' } },
  'PATCH /api/v1/me': { body: { name: 'Renamed', locale: 'de' } },
  'POST /api/v1/orgs': { body: { name: 'Newcomer', slug: 'newcomer' } },
  'PATCH /api/v1/orgs/:org': { body: { name: 'Acme Ltd' } },
  'POST /api/v1/orgs/:org/members': { body: { email: 'sam@acme.test', role: 'member' } },
  'PATCH /api/v1/orgs/:org/members/:user': { body: { role: 'member' } },
  'POST /api/v1/orgs/:org/projects': { body: { name: 'New Project' } },
  'PATCH /api/v1/orgs/:org/projects/:project': { body: { name: 'Renamed' } },
  'POST /api/v1/orgs/:org/projects/:project/members': {
    body: { user: 'victim@acme.test', role: 'commenter' },
  },
  'PATCH /api/v1/orgs/:org/projects/:project/members/:user': { body: { role: 'commenter' } },
  'PUT /api/v1/orgs/:org/projects/:project/members/:user': { body: { role: 'commenter' } },
  'POST /api/v1/orgs/:org/group-mappings': { body: { ...mapped, group: 'Guests' } },
  'PUT /api/v1/orgs/:org/group-mappings/:id': { body: { ...mapped, role: 'commenter' } },
  'POST /api/v1/orgs/:org/group-mappings/import': {
    body: { mappings: [{ ...mapped, group: 'Visitors' }] },
  },
  'POST /api/v1/orgs/:org/group-mappings/preview': {
    body: { user: 'victim@acme.test', groups: ['Staff'] },
  },
  'POST /api/v1/orgs/:org/clients': {
    body: { name: 'Chat', redirectUris: ['https://chat.acme.test/callback'] },
  },
  'PATCH /api/v1/orgs/:org/clients/:client': { body: { idTokenAlg: 'EdDSA' } },
  'POST /api/v1/orgs/:org/webhooks': {
    body: { url: 'https://hooks.acme.test/', events: ['scim.*'] },
  },
  'PATCH /api/v1/orgs/:org/webhooks/:id': { body: { enabled: true } },
  'POST /api/v1/orgs/:org/domains': { body: { domain: 'new.test' } },
  'PUT /api/v1/orgs/:org/sso': { body: connection },
  'POST /api/v1/orgs/:org/sso/relink': { body: { fromIssuer: connection.issuer } },
  'POST /api/v1/orgs/:org/sso/approve': { body: { pointsAt: 'elsewhere' } },
  'POST /api/v1/orgs/:org/ldap/approve': { body: { pointsAt: 'elsewhere' } },
  'POST /api/v1/orgs/:org/sso/test': { body: { issuer: 'https://127.0.0.1', clientSecret: 's' } },
  'PATCH /api/v1/orgs/:org/sso': { body: { autoRemove: true } },
  'PATCH /api/v1/orgs/:org/ldap': { body: { emailAttribute: 'mail' } },
  'PUT /api/v1/orgs/:org/ldap': { body: directory },
  'POST /api/v1/orgs/:org/ldap/test': { body: { uri: 'ldaps://127.0.0.1', bindPassword: 's' } },
  'PUT /api/v1/orgs/:org/signin-settings': { body: { github: false } },
  'PATCH /api/v1/orgs/:org/signin-settings': { body: { github: true } },
  'POST /api/v1/orgs/:org/signin-settings/people-shut-out': { body: { github: false } },
  'POST /api/v1/orgs/:org/signin-settings/shut-out': { body: { change: 'sso.disable' } },
  'GET /api/v1/orgs/:org/explain': { query: { user: 'victim@acme.test' } },
  'POST /api/v1/orgs/:org/plan': { body: { document: planned } },
  'POST /api/v1/orgs/:org/apply': { body: { document: planned, digest: 'of another plan' } },
  'GET /api/v1/auth/methods': { query: { identifier: 'olga@acme.test' } },
  'POST /auth/ldap/login': { body: { username: 'olga', password: 'not the password' } },
  'GET /auth/sso/start': { query: { domain: 'acme.test' } },
  'GET /auth/social/google/callback': { query: { code: 'c', state: 's' } },
  'GET /auth/social/github/callback': { query: { code: 'c', state: 's' } },
  'GET /auth/sso/callback': { query: { code: 'c', state: 's' } },
};

/**
 * The values for the `:keys` of a route's path. `:id` names an object of the company or, for a kind
 * that a person owns, an object of `whose`.
 */
export function keysOf(
  { path }: { path: string },
  company: Company,
  whose: Person,
): Record<string, string> {
  const ids: Record<string, string> = {
    'group-mappings': company.mapping,
    invitations: company.invitation,
    'setup-links': company.setupLink,
    webhooks: company.webhook,
    tokens: whose.spareToken,
    passkeys: whose.sparePasskey,
    apps: whose.spareApp,
    sessions: whose.spareSession,
  };
  const kind = /([\w-]+)\/:id/.exec(path)?.[1] ?? '';
  const known: Record<string, string> = {
    ...params,
    delivery: company.delivery,
    clientId: company.clientId,
    members: company.group,
    reference: company.reference,
    ...(kind in ids ? { id: ids[kind] ?? '' } : {}),
  };
  return Object.fromEntries(pathKeys(path).map((key) => [key, known[key] ?? key]));
}

/** The path of a route with its keys filled in. */
export function pathOf(route: { path: string }, company: Company, whose: Person): string {
  const keys = keysOf(route, company, whose);
  return route.path.replace(/:(\w+)/g, (_all, key: string) => encodeURIComponent(keys[key] ?? key));
}

/** The fixed values for the `:keys` of a path. */
const params = {
  org: 'acme',
  user: 'victim@acme.test',
  domain: 'acme.test',
  project: 'website',
  client: 'Wiki',
};
