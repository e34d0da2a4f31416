import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import type { ProjectRole } from '../../../database/models/project.ts';
import { requireAuthority, requireProjectAuthority } from '../../foundation/authority/require.ts';
import { outranks } from '../../foundation/project-roles.ts';
import { addMember } from '../../tenancy/memberships/add.ts';
import { rightToGrant } from '../../tenancy/memberships/membership.ts';
import { changeRoles, holdMembers, joinTogether } from '../../tenancy/memberships/together.ts';
import { removeProjectMember } from '../../tenancy/projects/members.ts';
import { writeProjectMembers } from '../../tenancy/projects/write-members.ts';
import { isLower, type Steps } from './changes.ts';
import type { StoredProject } from './state.ts';

/** Adds members and raises roles. */
export async function performMembers(
  ctx: Context,
  organization: Organization,
  { addMembers, changeMembers }: Steps,
): Promise<void> {
  const org = organization.id;
  const granted = addMembers.map(({ role }) => rightToGrant(role));
  for (const right of new Set(granted)) await requireAuthority(ctx, right, org);
  const left = await joinTogether(ctx, organization, addMembers);
  for (const { accountId, email, role } of addMembers)
    if (left.has(accountId)) await addMember(ctx, { org, email, role });
  const raised = changeMembers.filter((change) => !isLower(change));
  await performRoles(ctx, organization, raised);
}

/** Changes roles of members of the organization. */
export async function performRoles(
  ctx: Context,
  organization: Organization,
  changes: Steps['changeMembers'],
): Promise<void> {
  if (changes.length === 0) return;
  const org = organization.id;
  for (const right of new Set(changes.map(({ role }) => rightToGrant(role))))
    await requireAuthority(ctx, right, org);
  if (changes.some(({ from }) => from === 'owner'))
    await requireAuthority(ctx, 'members.takeOwner', org);
  const held = await holdMembers(
    organization,
    changes.map(({ accountId }) => accountId),
  );
  await changeRoles(
    ctx,
    organization,
    changes.map(({ accountId, from, role }) => {
      return { who: { id: accountId, name: nameIn(held, accountId) }, from, to: role };
    }),
  );
}

type Held = Awaited<ReturnType<typeof holdMembers>>;

function nameIn(held: Held, accountId: string): string {
  const shown = held.get(accountId);
  // The members are held, and the digest shows that nothing has changed.
  if (shown === undefined) throw new Error('a person of the plan is not a member');
  return shown.name;
}

/** The organization's projects by slug. */
export type Projects = Map<string, StoredProject>;

/** The project with this slug. It was there at the time of the plan, or the plan has added it. */
export function projectIn(projects: Projects, slug: string): StoredProject {
  const project = projects.get(slug);
  if (project === undefined) throw new Error('a project of the plan is gone');
  return project;
}

/** Gives and removes roles in projects. */
export async function performProjectMembers(
  ctx: Context,
  organization: Organization,
  projects: Projects,
  { putProjectMembers: given, removeProjectMembers }: Steps,
): Promise<void> {
  const org = organization.id;
  if (given.length > 0) {
    await requireRoles(ctx, org, given);
    if (given.some(({ wasSynced }) => wasSynced))
      await requireAuthority(ctx, 'projectMembers.changeSynced', org);
    const held = await holdMembers(
      organization,
      given.map(({ accountId }) => accountId),
    );
    await writeProjectMembers(
      ctx,
      org,
      given.map(({ project, accountId, role, from, wasSynced }) => ({
        project: projectIn(projects, project),
        who: { id: accountId, name: nameIn(held, accountId) },
        role,
        stored: from === null ? null : { role: from, synced: wasSynced },
      })),
    );
  }
  for (const { project, accountId: user } of removeProjectMembers)
    await removeProjectMember(ctx, { org, project, user });
}

/** Requires the right to give these roles. An admin has it in every project, so this checks one. */
async function requireRoles(
  ctx: Context,
  org: string,
  given: { project: string; role: ProjectRole }[],
): Promise<void> {
  const [first] = given;
  const high = given.find(({ role }) => outranks(role, 'member'));
  if (first !== undefined)
    await requireProjectAuthority(ctx, 'projectMembers.change', { org, project: first.project });
  if (high !== undefined)
    await requireProjectAuthority(ctx, 'projectMembers.grantAdmin', { org, project: high.project });
}
