import { GroupMapping } from '../../database/models/group-mapping.ts';
import { LdapConnection } from '../../database/models/ldap-connection.ts';
import type { Origin } from '../../database/models/membership.ts';
import { Project } from '../../database/models/project.ts';
import { ProjectMembership } from '../../database/models/project-membership.ts';
import type { Current, Mapping } from './plan.ts';

/** The connection that asks. */
interface Source {
  kind: 'sso' | 'ldap';
  id: string;
  organizationId: string;
}

/** The organization's mappings, to its own projects only (security I7), oldest first. */
export async function readMappings(organizationId: string): Promise<Mapping[]> {
  const rows = await GroupMapping.findAll({
    where: { organizationId },
    include: { model: Project, as: 'project', required: true, where: { organizationId } },
    order: ['id'],
  });
  return rows.map(({ id, group, projectId, role }) => ({ id, group, projectId, role }));
}

/**
 * The person's memberships in the organization's projects. `synced` are those that are this connection's to change: a
 * directory's are those that it gave, and single sign-on's all others that were synced, also by a connection that is gone.
 */
export async function readCurrent(source: Source, accountId: string): Promise<Current[]> {
  const { organizationId } = source;
  const directory = await LdapConnection.findOne({ where: { organizationId } });
  const isOwn = ({ by }: Origin) => (source.kind === 'ldap' ? by === source.id : by !== directory?.id);
  const rows = await ProjectMembership.findAll({
    where: { accountId },
    include: { model: Project, as: 'project', required: true, where: { organizationId } },
    order: ['projectId'],
  });
  return rows.map(({ projectId, role, synced, origin }) => {
    const { group, mappingId } = origin;
    const known = group !== undefined && mappingId !== undefined;
    return { projectId, role, synced: synced && isOwn(origin), because: known ? { group, mappingId } : null };
  });
}
