import type { Origin, Role } from '../../../database/models/membership.ts';
import type { ProjectRole } from '../../../database/models/project.ts';
import { select } from '../../../database/select.ts';

// The organizations and projects of a person, for pages. A person may be in 10,000 projects of each
// organization, so pages do not read them all.

/** An organization of a person, with their role. */
interface OwnOrganization {
  id: string;
  slug: string;
  name: string;
  role: Role;
  synced: boolean;
  origin: Origin;
}

/** The person's organizations by name. If there are more, the one with this id or slug is kept. */
export function readOwnOrganizations(
  accountId: string,
  { limit, here = '' }: { limit: number; here?: string | undefined },
): Promise<OwnOrganization[]> {
  return select<OwnOrganization>(
    `SELECT * FROM (
       SELECT o.id, o.slug, o.name, m.role, m.synced, m.origin
         FROM memberships m JOIN organizations o ON o.id = m.organization_id
        WHERE m.account_id = $1
        ORDER BY CASE WHEN o.slug = $2 OR CAST(o.id AS text) = $2 THEN 0 ELSE 1 END, lower(o.name), o.id
        LIMIT $3) kept
      ORDER BY lower(name), id`,
    [accountId, here, limit],
    { prepared: true, columns: { synced: 'flag', origin: 'json' } },
  );
}

/** A project of a person, with their role. */
interface OwnProject {
  id: string;
  slug: string;
  role: ProjectRole;
  synced: boolean;
  origin: Origin;
}

// CROSS JOIN makes SQLite begin with the organization's projects, which are at most 10,000.
const own = `FROM projects p CROSS JOIN project_memberships m
  WHERE p.organization_id = $1 AND m.project_id = p.id AND m.account_id = $2`;

/** The person's first projects in the organization by slug, and how many more there are. */
export async function readOwnProjects(
  accountId: string,
  organizationId: string,
  limit: number,
): Promise<{ projects: OwnProject[]; more: number }> {
  const projects = await select<OwnProject>(
    `SELECT p.id, p.slug, m.role, m.synced, m.origin ${own} ORDER BY p.slug LIMIT $3`,
    [organizationId, accountId, limit],
    { prepared: true, columns: { synced: 'flag', origin: 'json' } },
  );
  if (projects.length < limit) return { projects, more: 0 };
  const [all] = await select<{ count: number }>(
    `SELECT COUNT(*) AS count ${own}`,
    [organizationId, accountId],
    { prepared: true },
  );
  return { projects, more: (all?.count ?? 0) - projects.length };
}
