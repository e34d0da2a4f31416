import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { hold } from '../../../database/hold.ts';
import { GroupMapping } from '../../../database/models/group-mapping.ts';
import type { OrgRole } from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import type { ProjectRole } from '../../../database/models/project.ts';
import { insertRows } from '../../../database/select.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal } from '../../../errors.ts';
import { inSlices } from '../../../host/queue.ts';
import type { Next } from '../../../next.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvents } from '../../foundation/events/record.ts';
import { requireCapRoom } from '../../foundation/limits/caps.ts';
import { outranks } from '../../foundation/project-roles.ts';
import { findGiven } from '../../tenancy/projects/view.ts';
import { readMappingRows } from './mappings.sql.ts';
import { type GroupRole, roleOf, viewMapping } from './view.ts';

// Writes many mappings in few statements.

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
 * Locks the mappings until the transaction ends. Refuses with `cap_reached` if the organization
 * would have too many.
 */
export async function requireMappingRoom(organization: Organization, more: number): Promise<void> {
  await hold.mappings(organization.id, 'alone');
  await requireCapRoom(organization, 'mappings', more);
}

/** Writes mappings, with their events. Refuses with `already_exists` if one is already stored. */
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
  await refusingDuplicate(
    insertRows('group_mappings', rows),
    duplicateMapping(organization, given),
  );
  await recordEvents(
    ctx,
    organization.id,
    made.map((mapping) => ({ kind: 'mapping.added', ...about(organization, mapping) })),
  );
  // `map` keeps the length of a tuple, but its result type does not say so.
  return made.map(viewMapping) as { [At in keyof Given]: ReturnType<typeof viewMapping> };
}

/** The refusal if one of the mappings is already stored. */
export function duplicateMapping(
  { slug: org }: Organization,
  [first, ...others]: readonly GroupRole[],
): { message: string; hint: Next } {
  const group = JSON.stringify(first?.group);
  const where =
    first === undefined || 'orgRole' in first
      ? `the organization as ${first?.orgRole}`
      : `${first.project.slug} as ${first.role}`;
  const or = others.length > 0 ? ', or another mapping of the list is' : '';
  return {
    message: `${group} is already mapped to ${where}${or}.`,
    hint: { to: 'list the mappings', operation: 'mappings.list', with: { org } },
  };
}

/** The organization's mapping with this id, with its project; refuses with `not_found`. */
export async function requireMapping(
  { id: organizationId, slug }: Organization,
  id: string,
): Promise<GroupMapping> {
  const where = { id, organizationId };
  const mapping = await GroupMapping.findOne({ where, include: 'project' });
  if (mapping !== null) return mapping;
  throw new Refusal('not_found', `${slug} has no mapping ${id}.`);
}

/** A stored mapping: its id, and the role that it gives. */
export type StoredRole = GroupRole & { id: string };

/** Reads all mappings of the organization, in the order of their ids. */
export async function readStoredMappings(organizationId: string): Promise<StoredRole[]> {
  const rows = await readMappingRows(organizationId);
  return rows.map(({ id, projectId, slug, ...row }) => {
    const project = projectId === null || slug === null ? null : { id: projectId, slug };
    return { id, ...roleOf({ ...row, project }) };
  });
}

/** Deletes mappings, with their events. Returns views that list the memberships each one gave. */
export async function dropMappings<const Given extends readonly StoredRole[]>(
  ctx: Context,
  organization: Organization,
  given: Given,
) {
  const affected = await findGiven(
    organization.id,
    given.map(({ id }) => id),
  );
  await inSlices(given, async (some) => {
    await GroupMapping.destroy({ where: { id: some.map(({ id }) => id) } });
  });
  await recordEvents(
    ctx,
    organization.id,
    given.map((mapping: StoredRole) => ({
      kind: 'mapping.removed',
      ...about(organization, mapping),
    })),
  );
  const views = given.map((mapping: StoredRole) => {
    return { ...viewMapping(mapping), affected: affected.get(mapping.id) ?? [] };
  });
  // `map` keeps the length of a tuple, but its result type does not say so.
  return views as { -readonly [At in keyof Given]: (typeof views)[number] };
}

/** What an event says about a mapping. */
export function about({ id: organizationId }: Organization, mapping: GroupRole & { id: string }) {
  const { id, group } = mapping;
  const subject = { type: 'mapping', id, name: group };
  return { organizationId, subject, data: { group, ...toldRole(mapping) } };
}

/** What an event says about the role that a mapping gives. */
export function toldRole(mapping: GroupRole) {
  return 'orgRole' in mapping
    ? { orgRole: mapping.orgRole }
    : { project: mapping.project.slug, role: mapping.role };
}
