import type { OrgRole, Origin, Role } from '../../../database/models/membership.ts';
import type { Project, ProjectRole } from '../../../database/models/project.ts';
import { select } from '../../../database/select.ts';
import { firstKey, readAllAfter, readAllRows } from '../../foundation/page.ts';

// The SQL of an organization's state. It reads long lists in parts.

/** A project as a plan needs it. */
export type StoredProject = Pick<Project, 'id' | 'slug' | 'name'>;

/** The organization's projects, by slug. */
export function readProjects(organizationId: string): Promise<StoredProject[]> {
  return readAllAfter<StoredProject>((last, count) =>
    select<StoredProject>(
      `SELECT id, slug, name FROM projects
        WHERE organization_id = $1 AND slug > $2 ORDER BY slug LIMIT $3`,
      [organizationId, last?.slug ?? '', count],
    ),
  );
}

/** A mapping with the slug of its project, or with a role in the organization. */
interface MappingRow {
  id: string;
  group: string;
  project: string | null;
  role: ProjectRole | null;
  orgRole: OrgRole | null;
}

/** The organization's mappings, in the order of their ids. */
export function readMappingRows(organizationId: string): Promise<MappingRow[]> {
  return readAllRows((after, count) =>
    select<MappingRow>(
      `SELECT m.id, m.group_name AS "group", p.slug AS project, m.role, m.org_role AS "orgRole"
         FROM group_mappings m LEFT JOIN projects p ON p.id = m.project_id
        WHERE m.organization_id = $1 AND m.id > $2 ORDER BY m.id LIMIT $3`,
      [organizationId, after, count],
    ),
  );
}

/** How a membership came about: whether it is synced, and the mapping that gave it. */
export interface Given {
  synced: boolean;
  source: string | null;
  by: string | null;
  group: string | null;
  mappingId: string | null;
}

/** A member of a project, with the project's id. */
export interface ProjectMemberRow extends Given {
  accountId: string;
  projectId: string;
  role: ProjectRole;
}

/** The members of these projects. */
export function readProjectMemberRows(projectIds: string[]): Promise<ProjectMemberRow[]> {
  const list = projectIds.map((_, at) => `$${at + 4}`).join(', ');
  return readAllAfter<ProjectMemberRow>((last, count) =>
    select<ProjectMemberRow>(
      `SELECT m.account_id AS "accountId", m.project_id AS "projectId", m.role, m.synced,
                m.origin ->> 'source' AS source, m.origin ->> 'by' AS "by",
                m.origin ->> 'group' AS "group", m.origin ->> 'mappingId' AS "mappingId"
           FROM project_memberships m
          WHERE m.project_id IN (${list}) AND (m.project_id, m.account_id) > ($1, $2)
          ORDER BY m.project_id, m.account_id LIMIT $3`,
      [last?.projectId ?? firstKey, last?.accountId ?? firstKey, count, ...projectIds],
      { columns: { synced: 'flag' } },
    ),
  );
}

interface MemberRow extends Given {
  accountId: string;
  role: Role;
  email: string | null;
  name: string;
  kind: Origin['kind'];
}

/** The organization's members, in the order of their ids. */
export function readMemberRows(organizationId: string): Promise<MemberRow[]> {
  return readAllAfter<MemberRow>((last, count) =>
    select<MemberRow>(
      `SELECT m.account_id AS "accountId", m.role, m.origin ->> 'kind' AS kind, a.email, a.name,
              m.synced, m.origin ->> 'source' AS source, m.origin ->> 'by' AS "by",
              m.origin ->> 'group' AS "group", m.origin ->> 'mappingId' AS "mappingId"
         FROM memberships m JOIN accounts a ON a.id = m.account_id
        WHERE m.organization_id = $1 AND m.account_id > $2 ORDER BY m.account_id LIMIT $3`,
      [organizationId, last?.accountId ?? firstKey, count],
      { columns: { synced: 'flag' } },
    ),
  );
}
