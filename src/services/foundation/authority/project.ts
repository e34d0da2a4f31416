import type { LOCK } from 'sequelize';
import type { Organization } from '../../../database/models/organization.ts';
import { Project } from '../../../database/models/project.ts';
import { Refusal } from '../../../errors.ts';
import { isUuid } from '../fields.ts';

/**
 * The organization's project of this id or slug. `lock` holds the row until the transaction ends.
 */
export function findProject(
  organization: Pick<Organization, 'id'>,
  project: string,
  options: { lock?: LOCK } = {},
): Promise<Project | null> {
  const named = isUuid(project) ? { id: project.toLowerCase() } : { slug: project };
  return Project.findOne({ where: { organizationId: organization.id, ...named }, ...options });
}

/** Like `findProject`, but refuses `not_found`. */
export async function requireProject(
  organization: Pick<Organization, 'id'>,
  project: string,
  options: { lock?: LOCK } = {},
): Promise<Project> {
  const found = await findProject(organization, project, options);
  if (found === null)
    throw new Refusal('not_found', `There is no project ${JSON.stringify(project)}.`, {
      hint: 'idctl project list (or GET /api/v1/orgs/…/projects) shows them.',
    });
  return found;
}
