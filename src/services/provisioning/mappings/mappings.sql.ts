import type { OrgRole } from '../../../database/models/membership.ts';
import type { ProjectRole } from '../../../database/models/project.ts';
import { select } from '../../../database/select.ts';
import { readAllRows } from '../../foundation/page.ts';
import { fold } from '../../foundation/scim-user/names.ts';

// The SQL of group mappings.

/** The SCIM groups with this name in any case, or with this external id. */
export function findGroupsLike(
  organizationId: string,
  group: string,
): Promise<{ name: string; externalId: string | null }[]> {
  return select<{ name: string; externalId: string | null }>(
    `SELECT display_name AS name, external_id AS "externalId" FROM scim_groups
      WHERE organization_id = $1 AND (display_name_canonical = $2 OR external_id = $3)`,
    [organizationId, fold(group), group],
  );
}

/** The projects of the organization, in the order of their ids. */
export function readProjects(organizationId: string): Promise<{ id: string; slug: string }[]> {
  return readAllRows((after, count) =>
    select<{ id: string; slug: string }>(
      `SELECT id, slug FROM projects
        WHERE organization_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
      [organizationId, after, count],
    ),
  );
}

/** A mapping with its project, or with a role in the organization. */
interface MappingRow {
  id: string;
  group: string;
  projectId: string | null;
  slug: string | null;
  role: ProjectRole | null;
  orgRole: OrgRole | null;
}

/** The mappings of the organization, in the order of their ids. */
export function readMappingRows(organizationId: string): Promise<MappingRow[]> {
  return readAllRows((after, count) =>
    select<MappingRow>(
      `SELECT m.id, m.group_name AS "group", p.id AS "projectId", p.slug, m.role,
              m.org_role AS "orgRole"
         FROM group_mappings m LEFT JOIN projects p ON p.id = m.project_id
        WHERE m.organization_id = $1 AND m.id > $2 ORDER BY m.id LIMIT $3`,
      [organizationId, after, count],
    ),
  );
}
