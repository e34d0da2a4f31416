import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { GroupMapping } from '../../../database/models/group-mapping.ts';
import type { OrgRole } from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import type { ProjectRole } from '../../../database/models/project.ts';
import { insertRows } from '../../../database/select.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal } from '../../../errors.ts';
import { shellWord } from '../../../shell-word.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvents } from '../../foundation/events/record.ts';
import { outranks } from '../../foundation/project-roles.ts';
import { findGiven } from '../../tenancy/projects/view.ts';
import { holdMappings } from './hold.ts';
import { type GroupRole, roleOf, viewMapping } from './view.ts';

// Writes mappings, many at once.

/** The most mappings of an organization. Every sync of groups reads all of them. */
export const mostMappings = 10_000;

/** If a mapping gives a role above member, requires the right to grant such roles. */
export async function requireGrant(
  ctx: Context,
  org: string,
  mappings: { role?: ProjectRole | undefined; orgRole?: OrgRole | undefined }[],
) {
  const isHigh = ({ role, orgRole }: (typeof mappings)[number]) =>
    orgRole === 'admin' || (role !== undefined && outranks(role, 'member'));
  if (mappings.some(isHigh)) {
    await requireAuthority(ctx, 'mappings.grantAdmin', org);
  }
}

/**
 * Refuses `conflict` if the organization would have too many mappings. Locks the mappings until the
 * transaction ends, so that parallel additions cannot exceed the limit.
 */
export async function requireMappingRoom({ id, slug }: Organization, more: number): Promise<void> {
  await holdMappings(id);
  const stored = await GroupMapping.count({ where: { organizationId: id } });
  if (stored + more <= mostMappings) return;
  throw new Refusal('conflict', `${slug} would have more than ${mostMappings} group mappings.`, {
    hint: `Remove some mappings. List them with: idctl mappings list --org ${shellWord(slug)}`,
  });
}

/** Writes mappings, with their events. Refuses `already_exists` if one is stored already. */
export async function createMappings<const Given extends readonly GroupRole[]>(
  ctx: Context,
  organization: Organization,
  given: Given,
) {
  const made = given.map((mapping: GroupRole) => ({ id: orderedId(), ...mapping }));
  const rows = made.map((mapping) => ({
    id: mapping.id,
    organization_id: organization.id,
    group_name: mapping.group,
    created_at: ctx.now,
    ...('orgRole' in mapping
      ? { project_id: null, role: null, org_role: mapping.orgRole }
      : { project_id: mapping.project.id, role: mapping.role, org_role: null }),
  }));
  const named = given.map((mapping: GroupRole) => {
    const group = JSON.stringify(mapping.group);
    return 'orgRole' in mapping
      ? `${group} is mapped to the organization as ${mapping.orgRole}`
      : `${group} is mapped to ${mapping.project.slug} as ${mapping.role}`;
  });
  await refusingDuplicate(insertRows('group_mappings', rows), {
    message: `${named[0]} already${named.length > 1 ? ', or another mapping of the list is' : ''}.`,
    hint: `List the mappings with: idctl mappings list --org ${shellWord(organization.slug)}`,
  });
  await recordEvents(
    ctx,
    organization.id,
    made.map((mapping) => ({ kind: 'mapping.added', ...about(organization, mapping) })),
  );
  // `map` keeps the length of a tuple, but its result type does not say so.
  return made.map(viewMapping) as { [At in keyof Given]: ReturnType<typeof viewMapping> };
}

/** Deletes mappings, with their events. Returns views that list the memberships each one gave. */
export async function dropMappings<const Given extends readonly GroupMapping[]>(
  ctx: Context,
  organization: Organization,
  mappings: Given,
) {
  const given = mappings.map((mapping) => ({ id: mapping.id, ...roleOf(mapping) }));
  const affected = await findGiven(
    organization.id,
    given.map(({ id }) => id),
  );
  for (let at = 0; at < mappings.length; at += 1000) {
    const id = mappings.slice(at, at + 1000).map((mapping) => mapping.id);
    await GroupMapping.destroy({ where: { id } });
  }
  await recordEvents(
    ctx,
    organization.id,
    given.map((mapping) => ({ kind: 'mapping.removed', ...about(organization, mapping) })),
  );
  const views = given.map((mapping) => {
    return { ...viewMapping(mapping), affected: affected.get(mapping.id) ?? [] };
  });
  // `map` keeps the length of a tuple, but its result type does not say so.
  return views as { [At in keyof Given]: (typeof views)[number] };
}

function about({ id: organizationId }: Organization, mapping: GroupRole & { id: string }) {
  const { id, group } = mapping;
  const subject = { type: 'mapping', id, name: group };
  if ('orgRole' in mapping)
    return { organizationId, subject, data: { group, orgRole: mapping.orgRole } };
  const { project, role } = mapping;
  return { organizationId, subject, data: { group, project: project.slug, role } };
}
