import { GroupMapping } from '../../database/models/group-mapping.ts';
import { Project } from '../../database/models/project.ts';
import { ProjectMembership } from '../../database/models/project-membership.ts';
import type { Current, Mapping } from './plan.ts';

/** The organization's mappings, to its own projects only (security I7), oldest first. */
export async function readMappings(organizationId: string): Promise<Mapping[]> {
  const rows = await GroupMapping.findAll({
    where: { organizationId },
    include: { model: Project, as: 'project', required: true, where: { organizationId } },
    order: ['id'],
  });
  return rows.map(({ id, group, projectId, role }) => ({ id, group, projectId, role }));
}

/** The person's memberships in the organization's projects. */
export async function readCurrent(organizationId: string, accountId: string): Promise<Current[]> {
  const rows = await ProjectMembership.findAll({
    where: { accountId },
    include: { model: Project, as: 'project', required: true, where: { organizationId } },
    order: ['projectId'],
  });
  return rows.map(({ projectId, role, synced, origin: { group, mappingId } }) => {
    const known = group !== undefined && mappingId !== undefined;
    return { projectId, role, synced, because: known ? { group, mappingId } : null };
  });
}
