import type { Context } from '../../../context.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { ScimGroup } from '../../../database/models/scim-group.ts';
import { ScimRequest } from '../../../database/models/scim-request.ts';
import { ScimToken } from '../../../database/models/scim-token.ts';
import { SignInSettings } from '../../../database/models/sign-in-settings.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { Webhook } from '../../../database/models/webhook.ts';
import { select } from '../../../database/select.ts';
import { type Finding, right, wrong } from '../../../finding.ts';
import { commandLine, shellWord } from '../../../text/shell-word.ts';
import { inWords } from '../../foundation/limits/limit.ts';
import { baseOf } from '../../provisioning/scim/view.ts';
import { testLdap } from '../../signin/methods/ldap/test.ts';
import { findWaiting } from '../../tenancy/connections/waiting.ts';
import { type Rest, restOfDoctor } from '../../tenancy/ldap/bind-tries.ts';
import { governsNoAccount, saysSomething } from '../../tenancy/signin-settings/operations.ts';
import { findOwnersWithoutWay } from '../../tenancy/signin-settings/owners.ts';
import { testSso } from '../../tenancy/sso/test.ts';
import { type Check, check, shownTime } from './check.ts';

interface Examination {
  ok: boolean;
  message: string;
  steps: readonly { name: string; ok: boolean; expected: string; seen: string; hint?: string }[];
}

/** Checks an organization's connections, SCIM token, mappings, webhooks, and ways to sign in. */
export async function checkOrganization(ctx: Context, organization: Organization) {
  const checks = await Promise.all([
    checkSso(ctx, organization),
    checkLdap(ctx, organization),
    checkStored(ctx, organization),
  ]);
  return checks.flat().filter((each) => each !== null);
}

/** The checks that make no network request. */
export async function checkStored(ctx: Context, organization: Organization): Promise<Check[]> {
  const checks = [
    await checkScim(ctx, organization),
    await checkMappings(organization),
    await checkWebhooks(organization),
    await checkSignIn(ctx, organization),
    await checkOwners(ctx, organization),
    await checkOwnFactors(organization),
  ];
  return checks.filter((each) => each !== null);
}

async function checkSso(ctx: Context, { id, slug }: Organization): Promise<Check | null> {
  const connection = await SsoConnection.findOne({ where: { organizationId: id } });
  if (connection === null) return null;
  return check(
    `single sign-on of ${slug}`,
    'the provider answers, and accepts the client',
    async () => {
      const waiting = findWaiting(connection, 'sso', slug);
      if (!connection.enabled)
        return withWaiting(right(`${connection.issuer}, not enabled`), waiting);
      const finding = ofExamination(await testSso(ctx, { org: id }), connection.issuer);
      if (waiting !== null) return withWaiting(finding, waiting);
      if (!finding.ok || !connection.autoRemove || connection.absentGroups === 'none')
        return finding;
      // Security I7: some providers omit the claim for people without groups.
      return right(
        finding.seen,
        `If the provider omits ${connection.groupsClaim} for people without groups, they keep their former roles. To remove the roles: idctl sso set --org ${shellWord(slug)} --absent-groups none`,
      );
    },
  );
}

async function checkLdap(ctx: Context, { id, slug }: Organization): Promise<Check | null> {
  const connection = await LdapConnection.findOne({ where: { organizationId: id } });
  if (connection === null) return null;
  return check(
    `directory of ${slug}`,
    'the directory answers, and the filter finds people',
    async () => {
      const waiting = findWaiting(connection, 'ldap', slug);
      if (!connection.enabled) return withWaiting(right(`${connection.uri}, not enabled`), waiting);
      const rest = await restOfDoctor(ctx, connection);
      if (rest !== null) return withWaiting(resting(slug, rest), waiting);
      return withWaiting(ofExamination(await testLdap(ctx, { org: id }), connection.uri), waiting);
    },
  );
}

/** Adds that owners have not approved the connection yet. Without another fault, that is none. */
function withWaiting(finding: Finding, waiting: ReturnType<typeof findWaiting>): Finding {
  if (waiting === null) return finding;
  if (finding.ok) return right(`${finding.seen}; ${waiting.seen}`, waiting.hint);
  return wrong(`${finding.seen.replace(/\.$/, '')}; it also ${waiting.seen}`, finding.hint);
}

/** The finding while `doctor` pauses, so as not to lock the service account (security L8). */
function resting(slug: string, { seconds, refused, everywhere }: Rest): Finding {
  const org = shellWord(slug);
  return wrong(
    `${everywhere ? 'directories have' : 'the directory has'} refused ${refused} bind passwords; doctor tests the password again in ${inWords(seconds)}`,
    `Store the right password (idctl ldap set --org ${org}), then test it: idctl ldap test --org ${org}`,
  );
}

function ofExamination({ ok, message, steps }: Examination, subject: string): Finding {
  const step = steps.find((each) => !each.ok);
  return ok
    ? right(subject)
    : wrong(message, step?.hint ?? 'To see each step, run idctl sso test or idctl ldap test.');
}

/** Reports mapped groups that SCIM does not push. Their names may be misspelled. */
async function checkMappings({ id, slug }: Organization): Promise<Check | null> {
  const where = { organizationId: id };
  const groups = await ScimGroup.count({ where });
  const others = (await SsoConnection.count({ where })) + (await LdapConnection.count({ where }));
  // A connection may send the group.
  if (groups === 0 || others > 0) return null;
  return check(`group mappings of ${slug}`, 'SCIM pushes every mapped group', async () => {
    const unknown = await select<{ group: string }>(
      `SELECT DISTINCT m.group_name AS "group" FROM group_mappings m
        WHERE m.organization_id = $1 AND NOT EXISTS (SELECT 1 FROM scim_groups g
          WHERE g.organization_id = $1
            AND (g.display_name = m.group_name OR g.external_id = m.group_name))
        ORDER BY m.group_name LIMIT 4`,
      [id],
    );
    if (unknown.length === 0) return right(`${groups} groups`);
    const named = unknown.map(({ group }) => JSON.stringify(group)).slice(0, 3);
    const more = unknown.length > named.length ? ' and more' : '';
    return wrong(
      `SCIM pushes no group ${named.join(', ')}${more}`,
      `Compare the names with: idctl scim groups --org ${shellWord(slug)}`,
    );
  });
}

async function checkScim(ctx: Context, { id, slug }: Organization): Promise<Check | null> {
  const token = await ScimToken.findByPk(id);
  if (token === null) return null;
  return check(`SCIM of ${slug}`, 'the client connects, and is accepted', async () => {
    const last = await ScimRequest.findOne({
      where: { organizationId: id },
      order: [['id', 'DESC']],
    });
    const anew = `idctl scim token rotate --org ${shellWord(slug)}`;
    if (token.suspendedAt !== null)
      return wrong(
        'suspended: the token comes from a backup',
        `Create a new token, and give it to the client: ${anew}`,
      );
    if (token.lastUsedAt === null) {
      const tried =
        last?.status === 401 ? `, but one with a wrong token at ${shownTime(last.at)}` : '';
      const change = `Give the client this address and its token. For a new token: ${anew}`;
      return wrong(`no call with this token yet at ${baseOf(ctx, id)}${tried}`, change);
    }
    const called = `last called at ${shownTime(token.lastUsedAt)}`;
    if (last === null || last.status < 400) return right(called);
    const answered = `${last.method} ${last.path}: ${last.status}${last.reason === null ? '' : `, ${last.reason}`}`;
    if (last.status >= 500)
      return wrong(
        `the last call failed: ${answered}`,
        `See idctl scim log --org ${shellWord(slug)}`,
      );
    return right(called, `The last call was refused: ${answered}`);
  });
}

/** Reports owners who cannot sign in, even if other owners can (security O3, O4). */
async function checkOwners(ctx: Context, organization: Organization): Promise<Check> {
  const { slug } = organization;
  return check(`owners of ${slug}`, 'each has a way to sign in', async () => {
    const { owners, stuck } = await findOwnersWithoutWay(ctx, organization);
    const named = stuck.slice(0, 3).map(({ called }) => called);
    if (owners === 0) {
      return wrong(
        'This organization has no active owner.',
        `idctl member add EMAIL --org ${shellWord(slug)} --role owner`,
      );
    }
    const [first] = stuck;
    if (first === undefined)
      return right(owners === 1 ? '1 active owner' : `${owners} active owners`);
    return wrong(
      `no way to sign in for ${named.join(', ')}${stuck.length > 3 ? ', …' : ''}`,
      `${commandLine('idctl user login-link', first.ref)}, or enable another way to sign in: idctl signin show --org ${shellWord(slug)}`,
    );
  });
}

/** Names the owners whom single sign-on asks for their own second factor (security I8). */
async function checkOwnFactors({ id, slug }: Organization): Promise<Check | null> {
  const owners = await select<{ called: string }>(
    `SELECT COALESCE(a.email, a.name) AS called FROM accounts a
      WHERE (a.totp_enabled_at IS NOT NULL OR a.has_passkey)
        AND EXISTS (SELECT 1 FROM identities i JOIN sso_connections c ON CAST(c.id AS TEXT) = i.connection_id
          WHERE i.account_id = a.id AND c.organization_id = $1)
        AND EXISTS (SELECT 1 FROM memberships m WHERE m.account_id = a.id AND m.role = 'owner')
      ORDER BY a.id LIMIT 4`,
    [id],
  );
  if (owners.length === 0) return null;
  return check(`second factor of owners of ${slug}`, 'single sign-on asks for it', async () => {
    const named = owners.slice(0, 3).map(({ called }) => called);
    return right(
      `required from ${named.join(', ')}${owners.length > 3 ? ', …' : ''}`,
      'If an owner has lost it, the operator runs: idctl user totp-reset EMAIL --passkeys',
    );
  });
}

async function checkWebhooks({ id, slug }: Organization): Promise<Check | null> {
  const webhooks = await Webhook.findAll({ where: { organizationId: id }, order: ['id'] });
  if (webhooks.length === 0) return null;
  return check(`webhooks of ${slug}`, 'each receiver accepts its messages', async () => {
    const failing = webhooks.find(({ failingSince }) => failingSince !== null);
    const off = webhooks.filter(({ enabled }) => !enabled).length;
    if (failing?.failingSince) {
      const since = `every attempt since ${shownTime(failing.failingSince)} has failed`;
      const state = failing.enabled ? '' : '. The webhook is disabled';
      return wrong(
        `${failing.url}: ${since}${state}`,
        `See why: idctl webhook deliveries ${shellWord(failing.id)}`,
      );
    }
    return right(`${webhooks.length - off} in use${off === 0 ? '' : `, ${off} disabled`}`);
  });
}

/** Checks that the sign-in settings apply to an account. Null if there are no settings. */
async function checkSignIn(ctx: Context, organization: Organization): Promise<Check | null> {
  const { id, slug } = organization;
  if (!saysSomething(await SignInSettings.findByPk(id))) return null;
  return check(`sign-in of ${slug}`, 'its settings apply to accounts', async () => {
    if (!(await governsNoAccount(ctx, organization))) return right('its settings apply');
    const { creation } = ctx.config.orgs;
    const alone =
      creation === 'anyone' ? 'orgs.creation is anyone' : 'it is not the only organization';
    return wrong(
      `its settings apply to no account: the organization has no verified domain, and ${alone}`,
      `Verify the e-mail domain of its members: idctl domain add DOMAIN --org ${shellWord(slug)}`,
    );
  });
}
