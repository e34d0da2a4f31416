import type { Context } from '../../../../context.ts';
import type { ProjectRole } from '../../../../database/models/project.ts';
import {
  requireAuthority,
  requireProjectAuthority,
} from '../../../foundation/authority/require.ts';
import { outranks } from '../../../foundation/project-roles.ts';
import { holdMembers } from '../../../tenancy/memberships/together.ts';
import { removeProjectMember } from '../../../tenancy/projects/members.ts';
import { writeProjectMembers } from '../../../tenancy/projects/write-members.ts';
import type { Apply } from '../section.ts';
import { readProjects, type StoredProject } from '../state.sql.ts';
import { nameIn } from './apply-members.ts';

/** A role in a project to give or to remove. */
export interface ProjectStep {
  project: string;
  accountId: string;
  role: ProjectRole;
  /** The current role; null for a new membership. */
  from: ProjectRole | null;
  wasSynced: boolean;
}

/** The part of the steps with the members of projects. */
export interface ProjectMembersSteps {
  projectMembers: { put: ProjectStep[]; remove: ProjectStep[] };
}

/** Gives and removes roles in projects. */
export const applyProjectMembers: Apply<ProjectMembersSteps> = async (ctx, organization, steps) => {
  const { put, remove } = steps.projectMembers;
  const org = organization.id;
  if (put.length > 0) {
    await requireRoles(ctx, org, put);
    if (put.some(({ wasSynced }) => wasSynced))
      await requireAuthority(ctx, 'projectMembers.changeSynced', org);
    const projectOf = await findProjects(org);
    const held = await holdMembers(
      organization,
      put.map(({ accountId }) => accountId),
    );
    await writeProjectMembers(
      ctx,
      org,
      put.map(({ project, accountId, role, from, wasSynced }) => ({
        project: projectOf(project),
        who: { id: accountId, name: nameIn(held, accountId) },
        role,
        stored: from === null ? null : { role: from, synced: wasSynced },
      })),
    );
  }
  for (const { project, accountId: user } of remove)
    await removeProjectMember(ctx, { org, project, user });
};

/** Requires the right to give these roles. An admin has it in every project, so this checks one. */
async function requireRoles(ctx: Context, org: string, given: ProjectStep[]): Promise<void> {
  const [first] = given;
  const high = given.find(({ role }) => outranks(role, 'member'));
  if (first !== undefined)
    await requireProjectAuthority(ctx, 'projectMembers.change', { org, project: first.project });
  if (high !== undefined)
    await requireProjectAuthority(ctx, 'projectMembers.grantAdmin', { org, project: high.project });
}

/** Finds a project by slug. It existed at the time of the plan, or the plan has added it. */
export async function findProjects(org: string): Promise<(slug: string) => StoredProject> {
  const projects = new Map((await readProjects(org)).map((project) => [project.slug, project]));
  return (slug) => {
    const project = projects.get(slug);
    if (project === undefined) throw new Error('a project of the plan is gone');
    return project;
  };
}
