import type { Context } from '../../../context.ts';
import type { Project, ProjectRole } from '../../../database/models/project.ts';
import { ProjectMembership } from '../../../database/models/project-membership.ts';
import { insertRows } from '../../../database/select.ts';
import { eventAbout, recordEvents } from '../../foundation/events/record.ts';
import { byHand } from '../memberships/membership.ts';

/** A role in a project, given manually. */
export interface GivenRole {
  project: Pick<Project, 'id' | 'slug'>;
  who: { id: string; name: string };
  role: ProjectRole;
  /** The existing membership, if any. */
  stored: Pick<ProjectMembership, 'role' | 'synced'> | null;
}

/**
 * Writes roles in projects with their events. Synced memberships become manual. Call it with the
 * people's memberships in the organization locked.
 */
export async function writeProjectMembers(
  ctx: Context,
  organizationId: string,
  given: GivenRole[],
): Promise<void> {
  const origin = byHand(ctx.actor);
  const rows = given.flatMap(({ project, who, role, stored }) => {
    const key = { project_id: project.id, account_id: who.id };
    return stored === null ? [{ ...key, role, synced: false, origin, joined_at: ctx.now }] : [];
  });
  await insertRows('project_memberships', rows);
  const changed = given.filter(({ stored }) => stored !== null);
  const alike = Map.groupBy(changed, ({ project, role, stored }) => {
    return `${project.id} ${role} ${stored?.synced}`;
  });
  for (const some of alike.values()) await changeAlike(some, origin);
  await recordEvents(
    ctx,
    organizationId,
    given.map((one) => happening(organizationId, one, origin.kind)),
  );
}

/** Changes memberships of one project to one role. Either all of them are synced, or none. */
async function changeAlike(given: GivenRole[], origin: ProjectMembership['origin']): Promise<void> {
  const [first] = given;
  if (first === undefined) return;
  const { project, role, stored } = first;
  const change = { role, ...(stored?.synced ? { synced: false, origin } : {}) };
  const accountId = given.map(({ who }) => who.id);
  await ProjectMembership.update(change, { where: { projectId: project.id, accountId } });
}

function happening(organizationId: string, { project, who, role, stored }: GivenRole, by: string) {
  const about = eventAbout('user', { id: who.id, name: who.name }, organizationId);
  if (stored === null) {
    const data = { project: project.slug, role, origin: by };
    return { kind: 'project.member.added' as const, ...about, data };
  }
  const wasSynced = stored.synced ? { wasSynced: true as const } : {};
  const data = { project: project.slug, from: stored.role, to: role, ...wasSynced };
  return { kind: 'project.member.role.changed' as const, ...about, data };
}
