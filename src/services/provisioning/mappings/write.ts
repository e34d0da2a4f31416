import { Transaction } from 'sequelize';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { GroupMapping } from '../../../database/models/group-mapping.ts';
import { Organization } from '../../../database/models/organization.ts';
import type { Project, ProjectRole } from '../../../database/models/project.ts';
import { insertRows } from '../../../database/select.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal } from '../../../errors.ts';
import { shellWord } from '../../../shell-word.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvents } from '../../foundation/events/record.ts';
import { outranks } from '../../foundation/project-roles.ts';
import { findGiven } from '../../tenancy/projects/view.ts';
import { viewMapping } from './view.ts';

// The steps that write mappings, many at once.

/** The most mappings of an organization, because every sign-in reads all of them. */
export const mostMappings = 10_000;

/** Proves that the actor may let others in, if a mapping gives a role above member. */
export async function requireGrant(ctx: Context, org: string, mappings: { role: ProjectRole }[]) {
  if (mappings.some(({ role }) => outranks(role, 'member'))) {
    await requireAuthority(ctx, 'mappings.grantAdmin', org);
  }
}

/**
 * Refuses `conflict` if the organization would exceed its mappings. Locks the organization until
 * the transaction ends, so that two parallel additions do not both take the last place.
 */
export async function requireMappingRoom({ id, slug }: Organization, more: number): Promise<void> {
  await Organization.findByPk(id, { lock: Transaction.LOCK.NO_KEY_UPDATE });
  const stored = await GroupMapping.count({ where: { organizationId: id } });
  if (stored + more <= mostMappings) return;
  throw new Refusal('conflict', `${slug} would have more than ${mostMappings} group mappings.`, {
    hint: `Remove mappings you no longer need; see them with: idctl mappings list --org ${shellWord(slug)}`,
  });
}

/** A mapping to write. */
interface NewMapping {
  group: string;
  project: Pick<Project, 'id' | 'slug'>;
  role: ProjectRole;
}

/** Writes mappings, with their events. Refuses `already_exists` for one that is there. */
export async function createMappings<const Given extends readonly NewMapping[]>(
  ctx: Context,
  organization: Organization,
  given: Given,
) {
  const made = given.map(({ group, project, role }) => ({ id: orderedId(), group, project, role }));
  const rows = made.map(({ id, group, project, role }) => ({
    id,
    organization_id: organization.id,
    project_id: project.id,
    group_name: group,
    role,
    created_at: ctx.now,
  }));
  const named = given.map(
    ({ group, project, role }) =>
      `${JSON.stringify(group)} is mapped to ${project.slug} as ${role}`,
  );
  await refusingDuplicate(insertRows('group_mappings', rows), {
    message: `${named[0]} already${named.length > 1 ? ', or another one of the list is' : ''}.`,
    hint: `See them with: idctl mappings list --org ${shellWord(organization.slug)}`,
  });
  await recordEvents(
    ctx,
    organization.id,
    made.map((mapping) => ({ kind: 'mapping.added', ...about(organization, mapping) })),
  );
  // `map` keeps the length, which the type of its result does not say.
  return made.map(viewMapping) as { [At in keyof Given]: ReturnType<typeof viewMapping> };
}

/** Deletes mappings, with their events. The views list the memberships that each one gave. */
export async function dropMappings<const Given extends readonly GroupMapping[]>(
  ctx: Context,
  organization: Organization,
  mappings: Given,
) {
  const affected = mappings.length === 0 ? null : await findGiven(organization.id);
  for (let at = 0; at < mappings.length; at += 1000) {
    const id = mappings.slice(at, at + 1000).map((mapping) => mapping.id);
    await GroupMapping.destroy({ where: { id } });
  }
  await recordEvents(
    ctx,
    organization.id,
    mappings.map((mapping) => ({ kind: 'mapping.removed', ...about(organization, mapping) })),
  );
  const views = mappings.map((mapping) => {
    return { ...viewMapping(mapping), affected: affected?.get(mapping.id) ?? [] };
  });
  // `map` keeps the length, which the type of its result does not say.
  return views as { [At in keyof Given]: (typeof views)[number] };
}

function about(
  { id: organizationId }: Organization,
  { id, group, project, role }: NewMapping & { id: string },
) {
  return {
    organizationId,
    subject: { type: 'mapping', id, name: group },
    data: { group, project: project.slug, role },
  };
}
