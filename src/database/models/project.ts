import { column, rowOf } from './columns.ts';

/** A project of an organization. Members of the organization can have a role in it. */
export class Project extends rowOf(
  'projects',
  {
    id: column.key(),
    organizationId: column.to('organizations'),
    /** Lower case, unique within the organization, and never in UUID format. */
    slug: column.string(),
    name: column.string(),
    createdAt: column.date(),
  },
  () => [column.unique('projects_organization_slug', ['organization_id', 'slug'])],
) {
  /** Present only if the query included them. */
  declare memberships?: { role: ProjectRole }[];
}

/** The roles of a project (spec §2.3). */
export type ProjectRole = 'viewer' | 'commenter' | 'member' | 'admin';
