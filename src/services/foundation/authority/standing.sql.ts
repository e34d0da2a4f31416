import type { Role } from '../../../database/models/membership.ts';
import { Organization } from '../../../database/models/organization.ts';
import { Project, type ProjectRole } from '../../../database/models/project.ts';
import { columnsAt } from '../../../database/read-row.ts';
import { selectAs } from '../../../database/select.ts';
import { isUuid } from '../fields.ts';

// The SQL of `require.ts`. It bypasses the ORM, because each request in an organization runs it.

/** An organization and a project, and the roles of an account there. */
interface Found {
  organization: Organization;
  role: Role | null;
  /** Null also if no project was asked for. */
  project: Project | null;
  projectRole: ProjectRole | null;
}

/**
 * The organization with this id or slug, and in it the project with this id or slug; null without
 * the organization. Without an account, the roles are null.
 */
export async function findStanding(
  accountId: string | null,
  { org, project }: { org: string; project?: string },
): Promise<Found | null> {
  const [ofOrganization, ofProject] = [columnsAt(Organization, 'o'), columnsAt(Project, 'p')];
  const asked = named('o', org);
  const inside = project === undefined ? null : named('p', project);
  const [row] = await selectAs<Pick<Found, 'role'> & Partial<Pick<Found, 'projectRole'>>>(
    inside === null
      ? `SELECT ${ofOrganization.list}, m.role FROM ${organizations} WHERE ${asked.column} = $1`
      : `SELECT ${ofOrganization.list}, m.role, ${ofProject.list}, r.role AS "projectRole"
           FROM ${organizations}
           LEFT JOIN projects p ON p.organization_id = o.id AND ${inside.column} = $3
           LEFT JOIN project_memberships r ON r.project_id = p.id AND r.account_id = $2
          WHERE ${asked.column} = $1`,
    [asked.value, accountId, ...(inside === null ? [] : [inside.value])],
    { prepared: true, columns: { ...ofOrganization.kinds, ...(inside && ofProject.kinds) } },
  );
  const organization = row === undefined ? null : ofOrganization.build(row);
  if (row === undefined || organization === null) return null;
  const { role, projectRole = null } = row;
  return { organization, role, project: ofProject.build(row), projectRole };
}

const organizations = `organizations o
  LEFT JOIN memberships m ON m.organization_id = o.id AND m.account_id = $2`;

/** The column that an id or slug is in. A slug never looks like an id. */
function named(alias: string, text: string): { column: string; value: string } {
  return isUuid(text)
    ? { column: `${alias}.id`, value: text.toLowerCase() }
    : { column: `${alias}.slug`, value: text };
}
