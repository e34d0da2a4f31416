import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { holdDomains, holdHosts } from '../../tenancy/clients/origins.ts';
import { holdMembers } from '../../tenancy/memberships/together.ts';
import { applySteps, type Steps } from './sections.ts';

// Carries out a plan with the operations and steps of the separate commands. Each change requires
// its right and records its event. Call these functions inside one transaction.

/** Holds the rows that the steps use, in the order of all holds and not of the sections. */
export async function holdOrganization(
  ctx: Context,
  organization: Organization,
  steps: Steps,
): Promise<void> {
  if (steps.mappings.add.length + steps.mappings.remove.length > 0)
    await hold.mappings(organization.id, 'alone');
  const where = { organizationId: organization.id };
  // The domains of new members' addresses must stay verified until the members join (security O8).
  const joining = steps.members.add.map(({ email }) => domainOf(email));
  const names = [...new Set([...steps.domains.remove, ...joining])];
  if (names.length > 0) await holdDomains({ ...where, name: names }, 'whole', steps.domains.remove);
  const settings = clientsIn(steps);
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
  const clients = [...steps.clients.remove, ...steps.clients.change].map(({ id }) => id);
  if (clients.length > 0) await hold.clients({ ...where, id: clients }, 'whole');
  const slugs = projectsIn(steps);
  if (slugs.length > 0) await hold.projects({ ...where, slug: slugs }, 'kept');
}

function peopleIn({ members, projectMembers }: Steps): string[] {
  const inOrganization = [...members.add, ...members.change, ...members.remove];
  const all = [...inOrganization, ...projectMembers.put, ...projectMembers.remove];
  return [...new Set(all.map(({ accountId }) => accountId))];
}

function clientsIn({ clients: { add, change } }: Steps) {
  return [...add, ...change.map(({ to }) => to)];
}

/** The slugs of the projects that memberships and clients refer to. */
function projectsIn(steps: Steps): string[] {
  const { put, remove } = steps.projectMembers;
  const all = [...clientsIn(steps), ...put, ...remove];
  return [...new Set(all.flatMap(({ project }) => project ?? []))];
}

/** Carries out the steps. */
export async function performSteps(
  ctx: Context,
  organization: Organization,
  steps: Steps,
): Promise<void> {
  for (const perform of applySteps) await perform(ctx, organization, steps);
}
