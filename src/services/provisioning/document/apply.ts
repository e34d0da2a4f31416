import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { clientIdOf } from '../../tenancy/clients/client.ts';
import { removeClient } from '../../tenancy/clients/operations.ts';
import { holdHosts, releaseOrigins } from '../../tenancy/clients/origins.ts';
import { holdClient, insertClient, updateClient } from '../../tenancy/clients/write.ts';
import { addDomain, removeDomain } from '../../tenancy/domains/operations.ts';
import { removeLdap } from '../../tenancy/ldap/operations.ts';
import { applyLdap } from '../../tenancy/ldap/save.ts';
import { removeMember } from '../../tenancy/memberships/operations.ts';
import { holdMembers } from '../../tenancy/memberships/together.ts';
import { renameOrganization } from '../../tenancy/organizations/operations.ts';
import { createProjects, deleteProject, renameProject } from '../../tenancy/projects/operations.ts';
import { saveSignInSettings } from '../../tenancy/signin-settings/operations.ts';
import { removeSso } from '../../tenancy/sso/operations.ts';
import { applySso } from '../../tenancy/sso/save.ts';
import { changeWebhook, insertWebhook, removeWebhook } from '../../tenancy/webhooks/operations.ts';
import { planMapped } from '../mappings/replan.ts';
import type { GroupRole } from '../mappings/view.ts';
import {
  createMappings,
  dropMappings,
  readStoredMappings,
  requireGrant,
  requireMappingRoom,
} from '../mappings/write.ts';
import {
  type Projects,
  performMembers,
  performProjectMembers,
  performRoles,
  projectIn,
} from './apply-people.ts';
import { isLower, type Steps } from './changes.ts';
import { readProjects } from './state.sql.ts';

// Carries out a plan with the operations and steps of the separate commands. Each change requires
// its right and records its event. Call these functions inside one transaction.

/** Holds the rows that the steps use. */
export async function holdOrganization(
  ctx: Context,
  organization: Organization,
  steps: Steps,
): Promise<void> {
  if (steps.addMappings.length + steps.removeMappings.length > 0)
    await hold.mappings(organization.id, 'alone');
  const where = { organizationId: organization.id };
  // The domains of new members' addresses must stay verified until the members join (security O8).
  const joining = steps.addMembers.map(({ email }) => domainOf(email));
  const names = [...new Set([...steps.removeDomains, ...joining])];
  if (names.length > 0) await hold.domains({ ...where, name: names }, 'whole');
  const settings = [...steps.addClients, ...steps.changeClients.map(({ to }) => to)];
  await holdHosts(
    ctx,
    settings.flatMap(({ forwardAuthOrigins }) => forwardAuthOrigins),
  );
  // An enabled connection needs its domain.
  if (steps.sso !== null && steps.sso !== 'remove')
    await hold.domains({ ...where, name: steps.sso.save.emailDomain }, 'kept');
  if (steps.sso !== null) await hold.sso(where, 'whole');
  if (steps.ldap !== null) await hold.ldap(where, 'whole');
  const people = peopleIn(steps);
  // The memberships of new members do not exist yet.
  await hold.accounts(people);
  await holdMembers(organization, people);
  await hold.again(organization, 'alone');
  const clients = [...steps.removeClients, ...steps.changeClients].map(({ id }) => id);
  if (clients.length > 0) await hold.clients({ ...where, id: clients }, 'whole');
  const slugs = projectsIn(steps);
  if (slugs.length > 0) await hold.projects({ ...where, slug: slugs }, 'kept');
}

function peopleIn(steps: Steps): string[] {
  const { addMembers, changeMembers, removeMembers } = steps;
  const { putProjectMembers, removeProjectMembers } = steps;
  const inOrganization = [...addMembers, ...changeMembers, ...removeMembers];
  const all = [...inOrganization, ...putProjectMembers, ...removeProjectMembers];
  return [...new Set(all.map(({ accountId }) => accountId))];
}

/** The slugs of the projects that memberships and clients refer to. */
function projectsIn(steps: Steps): string[] {
  const { addClients, changeClients, putProjectMembers, removeProjectMembers } = steps;
  const clients = [...addClients, ...changeClients.map(({ to }) => to)];
  const all = [...clients, ...putProjectMembers, ...removeProjectMembers];
  return [...new Set(all.flatMap(({ project }) => project ?? []))];
}

/**
 * Carries out the steps. Additions come before the steps that use them. Lower roles come last, and
 * then the actor's own removal.
 */
export async function performSteps(
  ctx: Context,
  organization: Organization,
  steps: Steps,
): Promise<void> {
  const org = organization.id;
  if (steps.rename !== null) await renameOrganization(ctx, { org, name: steps.rename });
  for (const domain of steps.addDomains) await addDomain(ctx, { org, domain });
  await performMembers(ctx, organization, steps);
  await performProjects(ctx, organization, steps);
  await performClients(ctx, organization, steps);
  // This comes after the clients, because no client may still require a removed project.
  for (const { id: project } of steps.removeProjects) await deleteProject(ctx, { org, project });
  await performWebhooks(ctx, organization, steps);
  await performConnections(ctx, org, steps);
  // This comes after the connections: under the new settings, an owner may need a new connection.
  if (steps.signin !== null) await saveSignInSettings(ctx, { org, ...steps.signin });
  for (const domain of steps.removeDomains) await removeDomain(ctx, { org, domain });
  const own = ctx.actor.kind === 'user' ? ctx.actor.accountId : null;
  const others = steps.removeMembers.filter(({ accountId }) => accountId !== own);
  for (const { accountId: user } of others) await removeMember(ctx, { org, user });
  // This comes last, because every earlier step may need the actor's own role.
  await performRoles(ctx, organization, steps.changeMembers.filter(isLower));
  if (own !== null && others.length < steps.removeMembers.length)
    await removeMember(ctx, { org, user: own });
}

async function performProjects(
  ctx: Context,
  organization: Organization,
  steps: Steps,
): Promise<void> {
  const org = organization.id;
  const { addProjects, renameProjects } = steps;
  if (addProjects.length > 0) {
    await requireAuthority(ctx, 'projects.change', org);
    await createProjects(ctx, organization, addProjects);
  }
  for (const { id: project, name } of renameProjects)
    await renameProject(ctx, { org, project, name });
  const all = await readProjects(org);
  const projects = new Map(all.map((project) => [project.slug, project]));
  await performMappings(ctx, organization, projects, steps);
  await performProjectMembers(ctx, organization, projects, steps);
}

async function performClients(
  ctx: Context,
  organization: Organization,
  { addClients, changeClients, removeClients }: Steps,
): Promise<void> {
  const org = organization.id;
  if (addClients.length + changeClients.length > 0)
    await requireAuthority(ctx, 'clients.change', org);
  for (const client of removeClients) await removeClient(ctx, { org, client: clientIdOf(client) });
  const changing = [];
  for (const { id, to } of changeClients) {
    const client = await holdClient(organization, clientIdOf({ id }));
    changing.push({ client, to });
  }
  // This comes before any client gets an origin: an origin may move from one client to another.
  for (const { client, to } of changing) await releaseOrigins(client, to.forwardAuthOrigins);
  for (const { client, to } of changing) await updateClient(ctx, organization, client, to);
  for (const client of addClients) await insertClient(ctx, organization, client);
}

async function performMappings(
  ctx: Context,
  organization: Organization,
  projects: Projects,
  { addMappings, removeMappings }: Steps,
): Promise<void> {
  if (addMappings.length + removeMappings.length === 0) return;
  await requireAuthority(ctx, 'mappings.change', organization.id);
  await requireGrant(ctx, organization.id, addMappings);
  if (removeMappings.length > 0) {
    const gone = new Set(removeMappings.map(({ id }) => id));
    const stored = await readStoredMappings(organization.id);
    await dropMappings(
      ctx,
      organization,
      stored.filter(({ id }) => gone.has(id)),
    );
  }
  await requireMappingRoom(organization, addMappings.length);
  const added = addMappings.flatMap(({ group, project, role, orgRole }): GroupRole[] => {
    if (orgRole !== undefined) return [{ group, orgRole }];
    // Without `orgRole`, the schema requires `project` and `role`.
    if (project === undefined || role === undefined) return [];
    return [{ group, project: projectIn(projects, project), role }];
  });
  await createMappings(ctx, organization, added);
  await planMapped(ctx, organization.id, [...addMappings, ...removeMappings], true);
}

async function performWebhooks(
  ctx: Context,
  organization: Organization,
  steps: Steps,
): Promise<void> {
  const org = organization.id;
  const { addWebhooks, changeWebhooks, removeWebhooks } = steps;
  if (addWebhooks.length > 0) await requireAuthority(ctx, 'webhooks.change', org);
  // Removals first: the number of webhooks of an organization is limited.
  for (const { id } of removeWebhooks) await removeWebhook(ctx, { org, id });
  for (const webhook of addWebhooks) await insertWebhook(ctx, organization, webhook);
  for (const webhook of changeWebhooks) await changeWebhook(ctx, { org, ...webhook });
}

async function performConnections(ctx: Context, org: string, { sso, ldap }: Steps): Promise<void> {
  if (sso === 'remove') await removeSso(ctx, { org });
  else if (sso !== null) {
    const { clientSecret, ...settings } = sso.save;
    await applySso(ctx, { org, ...settings, clientSecret: secretIn(clientSecret) });
  }
  if (ldap === 'remove') await removeLdap(ctx, { org });
  else if (ldap !== null) {
    const { bindPassword, ...settings } = ldap.save;
    await applyLdap(ctx, { org, ...settings, bindPassword: secretIn(bindPassword) });
  }
}

/** The secret as the operation takes it; undefined to keep the stored one. */
function secretIn(secret: { value: string } | object | undefined): string | undefined {
  const value = secret !== undefined && 'value' in secret ? secret.value : undefined;
  return typeof value === 'string' ? value : undefined;
}
