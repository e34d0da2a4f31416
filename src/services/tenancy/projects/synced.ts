import { Account } from '../../../database/models/account.ts';
import { Project } from '../../../database/models/project.ts';
import { ProjectMembership } from '../../../database/models/project-membership.ts';

/** A synced membership, in names that people know. */
interface Synced {
  user: string;
  project: string;
  role: ProjectMembership['role'];
}

/**
 * The organization's synced project memberships that `isMeant` accepts, with person and project.
 */
export async function findSynced(
  organizationId: string,
  isMeant: (membership: ProjectMembership) => boolean,
): Promise<Synced[]> {
  return (await readSynced(organizationId)).filter(isMeant).map(view);
}

/** The memberships that each mapping of the organization has given, by mapping id; in one read. */
export async function findGiven(
  organizationId: string,
): Promise<Map<string | undefined, Synced[]>> {
  const given = Map.groupBy(await readSynced(organizationId), ({ origin }) => origin.mappingId);
  return new Map([...given].map(([mappingId, memberships]) => [mappingId, memberships.map(view)]));
}

function readSynced(organizationId: string): Promise<ProjectMembership[]> {
  return ProjectMembership.findAll({
    where: { synced: true },
    include: [
      { model: Project, as: 'project', required: true, where: { organizationId } },
      { model: Account, as: 'account', required: true },
    ],
    order: ['projectId', 'accountId'],
  });
}

function view({ account, project, role }: ProjectMembership): Synced {
  return { user: account.email ?? account.name, project: project.slug, role };
}
