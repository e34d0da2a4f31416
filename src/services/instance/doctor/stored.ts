import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { SignInSettings } from '../../../database/models/sign-in-settings.ts';
import { Webhook } from '../../../database/models/webhook.ts';
import { type Finding, right, wrong } from '../../../finding.ts';
import { baseOf } from '../../provisioning/scim/view.ts';
import { findConnections } from '../../tenancy/connections/kinds.ts';
import { findWithoutAccounts, saysSomething } from '../../tenancy/signin-settings/operations.ts';
import { findOwnersWithoutWay } from '../../tenancy/signin-settings/owners.ts';
import { type Check, check, shownTime } from './check.ts';
import {
  countPushedGroups,
  countWebhooks,
  findOwnersWithFactor,
  findUnpushed,
  readScimStates,
  type ScimState,
} from './organization.sql.ts';
import { byOrganization, type Reader, runChecks, sharing } from './reader.ts';

/** The checks of organizations that do not need the network. */
export const storedReaders: Reader[] = [
  readScim,
  readMappings,
  readWebhooks,
  readSignIn,
  readOwners,
  readOwnFactors,
];

/** Runs the checks that do not need the network; see `Reader` for the organizations. */
export function checkStored(ctx: Context, organizations: Organization[]): Promise<Check[]> {
  return runChecks(ctx, organizations, storedReaders);
}

async function readScim(ctx: Context, organizations: Organization[]) {
  const statesOf = byOrganization(await readScimStates(idsOf(organizations)));
  return ({ id, slug }: Organization) => {
    const [state] = statesOf(id);
    if (state === undefined) return null;
    return check(`SCIM of ${slug}`, 'the client connects, and is accepted', async () =>
      judgeScim(ctx, slug, state),
    );
  };
}

function judgeScim(ctx: Context, org: string, state: ScimState): Finding {
  const { status } = state;
  const anew = { operation: 'scim.token.rotate', with: { org } } as const;
  if (state.suspendedAt !== null)
    return wrong('suspended: the token comes from a backup', {
      say: 'Create a new token, and give it to the client',
      ...anew,
    });
  if (state.lastUsedAt === null) {
    const tried =
      status === 401 && state.at !== null
        ? `, but one with a wrong token at ${shownTime(state.at)}`
        : '';
    const address = baseOf(ctx, state.organizationId);
    return wrong(`no call with this token yet at ${address}${tried}`, [
      'Give the client this address and its token.',
      { say: 'For a new token', ...anew },
    ]);
  }
  const called = `last called at ${shownTime(state.lastUsedAt)}`;
  if (status === null || status < 400) return right(called);
  const reason = state.reason === null ? '' : `, ${state.reason}`;
  const answered = `${state.method} ${state.path}: ${status}${reason}`;
  if (status >= 500)
    return wrong(`the last call failed: ${answered}`, {
      to: 'see the last calls',
      operation: 'scim.log',
      with: { org },
    });
  return right(called, `The last call was refused: ${answered}`);
}

/** Reports mapped groups that SCIM does not push. Their names may be misspelled. */
async function readMappings(_ctx: Context, organizations: Organization[]) {
  const pushed = await countPushedGroups(idsOf(organizations));
  const groupsOf = byOrganization(pushed);
  const pushing = pushed.map(({ organizationId }) => organizationId);
  const connections =
    pushing.length === 0 ? [] : await findConnections({ organizationId: pushing });
  // A connection may send the group.
  const connected = new Set(connections.map(({ row }) => row.organizationId));
  const without = pushing.filter((id) => !connected.has(id));
  const unpushed = await sharing(findUnpushed(without, 4).then(byOrganization));
  return ({ id, slug }: Organization) => {
    const [counted] = groupsOf(id);
    if (counted === undefined || connected.has(id)) return null;
    return check(`group mappings of ${slug}`, 'SCIM pushes every mapped group', async () => {
      const unknown = unpushed()(id);
      if (unknown.length === 0) return right(`${counted.groups} groups`);
      const named = unknown.map(({ group }) => JSON.stringify(group)).slice(0, 3);
      const more = unknown.length > named.length ? ' and more' : '';
      return wrong(`SCIM does not push ${named.join(', ')}${more}`, {
        to: 'compare the names',
        operation: 'scim.groups',
        with: { org: slug },
      });
    });
  };
}

async function readWebhooks(_ctx: Context, organizations: Organization[]) {
  const counts = await countWebhooks(idsOf(organizations));
  const failing = counts.flatMap((each) => each.failing ?? []);
  const webhooks =
    failing.length === 0
      ? []
      : await Webhook.findAll({
          where: { id: failing },
          attributes: ['id', 'organizationId', 'url', 'enabled', 'failingSince'],
        });
  const [countOf, failingOf] = [byOrganization(counts), byOrganization(webhooks)];
  return ({ id, slug }: Organization) => {
    const [counted] = countOf(id);
    if (counted === undefined) return null;
    return check(`webhooks of ${slug}`, 'each receiver accepts its messages', async () => {
      const [webhook] = failingOf(id);
      if (webhook?.failingSince) {
        const since = `every attempt since ${shownTime(webhook.failingSince)} has failed`;
        const state = webhook.enabled ? '' : '. The webhook is disabled';
        return wrong(`${webhook.url}: ${since}${state}`, {
          say: 'See why',
          operation: 'webhook.deliveries',
          with: { id: webhook.id, org: slug },
        });
      }
      const { count, disabled } = counted;
      return right(`${count - disabled} in use${disabled === 0 ? '' : `, ${disabled} disabled`}`);
    });
  };
}

/** Checks that the sign-in settings apply to an account. Null if there are no settings. */
async function readSignIn(ctx: Context, organizations: Organization[]) {
  const rows = await SignInSettings.findAll({ where: { organizationId: idsOf(organizations) } });
  const set = rows.filter(saysSomething).map(({ organizationId }) => organizationId);
  const without = await sharing(findWithoutAccounts(ctx, set));
  const saying = new Set(set);
  return ({ id, slug }: Organization) => {
    if (!saying.has(id)) return null;
    return check(`sign-in of ${slug}`, 'its settings apply to accounts', async () => {
      if (!without().has(id)) return right('its settings apply');
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
  };
}

/** Reports owners who cannot sign in, even if other owners can (security O3, O4). */
async function readOwners(ctx: Context, organizations: Organization[]) {
  const [first = '', last = first] = [organizations.at(0)?.id, organizations.at(-1)?.id];
  const found = await sharing(findOwnersWithoutWay(ctx, { first, last, max: 4 }));
  return ({ id, slug }: Organization) =>
    check(`owners of ${slug}`, 'each has a way to sign in', async () => {
      const { owners, stuck } = found()(id);
      const named = stuck.slice(0, 3).map(({ called }) => called);
      if (owners === 0) {
        return wrong('This organization has no active owner.', {
          operation: 'member.add',
          with: { org: slug, role: 'owner' },
        });
      }
      const [stranded] = stuck;
      if (stranded === undefined)
        return right(owners === 1 ? '1 active owner' : `${owners} active owners`);
      return wrong(`no way to sign in for ${named.join(', ')}${stuck.length > 3 ? ', …' : ''}`, [
        { to: 'sign one in once', operation: 'user.login-link', with: { user: stranded.ref } },
        { to: 'enable another way to sign in', operation: 'signin.show', with: { org: slug } },
      ]);
    });
}

/** Names the owners whose own second factor single sign-on asks for (security I8). */
async function readOwnFactors(_ctx: Context, organizations: Organization[]) {
  const ownersOf = byOrganization(await findOwnersWithFactor(idsOf(organizations), 4));
  return ({ id, slug }: Organization) => {
    const owners = ownersOf(id).map(({ called }) => called);
    if (owners.length === 0) return null;
    return check(`second factor of owners of ${slug}`, 'single sign-on asks for it', async () => {
      const named = owners.slice(0, 3);
      return right(`required from ${named.join(', ')}${owners.length > 3 ? ', …' : ''}`, {
        say: 'If an owner has lost it, the operator runs',
        operation: 'user.remove-factors',
      });
    });
  };
}

function idsOf(organizations: Organization[]): string[] {
  return organizations.map(({ id }) => id);
}
