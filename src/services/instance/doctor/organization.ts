import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { ScimGroup } from '../../../database/models/scim-group.ts';
import { ScimRequest } from '../../../database/models/scim-request.ts';
import { ScimToken } from '../../../database/models/scim-token.ts';
import { SignInSettings } from '../../../database/models/sign-in-settings.ts';
import { Webhook } from '../../../database/models/webhook.ts';
import { right, wrong } from '../../../finding.ts';
import { baseOf } from '../../provisioning/scim/view.ts';
import { findConnections } from '../../tenancy/connections/kinds.ts';
import { governsNoAccount, saysSomething } from '../../tenancy/signin-settings/operations.ts';
import { findOwnersWithoutWay } from '../../tenancy/signin-settings/owners.ts';
import { type Check, check, shownTime } from './check.ts';
import { checkConnections } from './connections.ts';
import { findOwnersWithFactor, findUnpushed } from './organization.sql.ts';

/** Checks an organization's connections, SCIM token, mappings, webhooks, and ways to sign in. */
export async function checkOrganization(ctx: Context, organization: Organization) {
  const checks = await Promise.all([
    checkConnections(ctx, organization),
    checkStored(ctx, organization),
  ]);
  return checks.flat().filter((each) => each !== null);
}

/** The checks that do not need the network. */
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

/** Reports mapped groups that SCIM does not push. Their names may be misspelled. */
async function checkMappings({ id, slug }: Organization): Promise<Check | null> {
  const where = { organizationId: id };
  const groups = await ScimGroup.count({ where });
  // A connection may send the group.
  if (groups === 0 || (await findConnections(where)).length > 0) return null;
  return check(`group mappings of ${slug}`, 'SCIM pushes every mapped group', async () => {
    const unknown = await findUnpushed(id, 4);
    if (unknown.length === 0) return right(`${groups} groups`);
    const named = unknown.map((group) => JSON.stringify(group)).slice(0, 3);
    const more = unknown.length > named.length ? ' and more' : '';
    return wrong(`SCIM does not push ${named.join(', ')}${more}`, {
      to: 'compare the names',
      operation: 'scim.groups',
      with: { org: slug },
    });
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
    const anew = { operation: 'scim.token.rotate', with: { org: slug } } as const;
    if (token.suspendedAt !== null)
      return wrong('suspended: the token comes from a backup', {
        say: 'Create a new token, and give it to the client',
        ...anew,
      });
    if (token.lastUsedAt === null) {
      const tried =
        last?.status === 401 ? `, but one with a wrong token at ${shownTime(last.at)}` : '';
      return wrong(`no call with this token yet at ${baseOf(ctx, id)}${tried}`, [
        'Give the client this address and its token.',
        { say: 'For a new token', ...anew },
      ]);
    }
    const called = `last called at ${shownTime(token.lastUsedAt)}`;
    if (last === null || last.status < 400) return right(called);
    const answered = `${last.method} ${last.path}: ${last.status}${last.reason === null ? '' : `, ${last.reason}`}`;
    if (last.status >= 500)
      return wrong(`the last call failed: ${answered}`, {
        to: 'see the last calls',
        operation: 'scim.log',
        with: { org: slug },
      });
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
      return wrong('This organization has no active owner.', {
        operation: 'member.add',
        with: { org: slug, role: 'owner' },
      });
    }
    const [first] = stuck;
    if (first === undefined)
      return right(owners === 1 ? '1 active owner' : `${owners} active owners`);
    return wrong(`no way to sign in for ${named.join(', ')}${stuck.length > 3 ? ', …' : ''}`, [
      { to: 'sign one in once', operation: 'user.login-link', with: { user: first.ref } },
      { to: 'enable another way to sign in', operation: 'signin.show', with: { org: slug } },
    ]);
  });
}

/** Names the owners whom single sign-on asks for their own second factor (security I8). */
async function checkOwnFactors({ id, slug }: Organization): Promise<Check | null> {
  const owners = await findOwnersWithFactor(id, 4);
  if (owners.length === 0) return null;
  return check(`second factor of owners of ${slug}`, 'single sign-on asks for it', async () => {
    const named = owners.slice(0, 3);
    return right(`required from ${named.join(', ')}${owners.length > 3 ? ', …' : ''}`, {
      say: 'If an owner has lost it, the operator runs',
      operation: 'user.remove-factors',
    });
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
      return wrong(`${failing.url}: ${since}${state}`, {
        say: 'See why',
        operation: 'webhook.deliveries',
        with: { id: failing.id, org: slug },
      });
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
      `its settings do not apply to any account: the organization has no verified domain, and ${alone}`,
      {
        say: 'Verify the e-mail domain of its members',
        operation: 'domain.add',
        with: { org: slug },
      },
    );
  });
}
