import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import type { Origin } from '../../../database/models/membership.ts';
import { Project } from '../../../database/models/project.ts';
import { ProjectMembership } from '../../../database/models/project-membership.ts';
import { select } from '../../../database/select.ts';
import type { Current, Mapping } from './plan.ts';

/** The connection that asks. */
interface Source {
  kind: 'sso' | 'ldap';
  id: string;
  organizationId: string;
}

/** The organization's mappings, to its own projects only (security I7), oldest first; past the ORM, as there may be 10000. */
export function readMappings(organizationId: string): Promise<Mapping[]> {
  return select<Mapping>(
    `SELECT m.id, m.group_name AS "group", m.project_id AS "projectId", m.role FROM group_mappings m
       JOIN projects p ON p.id = m.project_id AND p.organization_id = m.organization_id
      WHERE m.organization_id = $1 ORDER BY m.id`,
    [organizationId],
  );
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
