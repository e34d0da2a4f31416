import { Op } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { hold } from '../../../database/hold.ts';
import { Client } from '../../../database/models/client.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Project } from '../../../database/models/project.ts';
import { ProjectMembership } from '../../../database/models/project-membership.ts';
import { insertRows } from '../../../database/select.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { counted } from '../../../text/words.ts';
import { requireAuthorityOver } from '../../foundation/authority/over.ts';
import {
  holdProject,
  isAllowed,
  noProject,
  requireAuthority,
  requireProject,
} from '../../foundation/authority/require.ts';
import { eventAbout, recordEvent, recordEvents } from '../../foundation/events/record.ts';
import { isUuid, name, ref, slug, slugOf } from '../../foundation/fields.ts';
import { requireCapRoom } from '../../foundation/limits/caps.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, pageOf, readPage } from '../../foundation/page.ts';
import { projectView, viewProject } from './view.ts';

// Projects of an organization (spec §2.3).

/** Lists the organization's projects: all for its admins; for others, those that they belong to. */
export const listProjects = operation({
  authority: 'projects.see',
  input: z.strictObject({ org: ref, ...pageInput }),
  output: pageOf(projectView),
  run: (ctx, input, { organization, role }) => {
    const own = (accountId: string) => ({
      model: ProjectMembership,
      as: 'memberships',
      where: { accountId },
      required: !isAllowed(role, 'projects.seeAll'),
    });
    return readPage(
      input,
      async (after, limit) => {
        const projects = await Project.findAll({
          where: { organizationId: organization.id, id: { [Op.gt]: after } },
          include: ctx.actor.kind === 'user' ? [own(ctx.actor.accountId)] : [],
          // At most one membership matches each project, so the limit counts projects.
          subQuery: false,
          order: ['id'],
          limit,
        });
        const members = await countMembers(projects.map(({ id }) => id));
        return projects.map((project) => ({ project, members: members(project.id) }));
      },
      ({ project }) => project.id,
      ({ project, members }) => viewProject(project, members, project.memberships?.[0]?.role),
    );
  },
});

/** Shows one project to its members and to the organization's admins. */
export const showProject = operation({
  authority: 'projectMembers.see',
  input: z.strictObject({ org: ref, project: ref }),
  output: projectView,
  run: (ctx, _input, { project }) => readProject(ctx, project),
});

async function countMembers(projectIds: string[]): Promise<(projectId: string) => number> {
  const counts = await ProjectMembership.count({
    where: { projectId: projectIds },
    group: ['projectId'],
  });
  const members = new Map(counts.map(({ projectId, count }) => [projectId, count]));
  return (projectId) => members.get(projectId) ?? 0;
}

/** Creates a project without members. Refuses with `already_exists` for a taken slug. */
export const createProject = operation({
  authority: 'projects.change',
  input: z.strictObject({ org: ref, name, slug: slug.optional() }),
  output: projectView,
  run: async (ctx, input, { organization }) => {
    const short = input.slug ?? slugOf(input.name);
    return transaction(async () => {
      const [project] = await createProjects(ctx, organization, [
        { slug: short, name: input.name },
      ]);
      return viewProject(project, 0);
    });
  },
});

/**
 * Creates projects without members, in few statements. Refuses with `already_exists` for a taken
 * slug.
 */
export async function createProjects<const Given extends readonly { slug: string; name: string }[]>(
  ctx: Context,
  organization: Organization,
  given: Given,
) {
  await requireCapRoom(organization, 'projects', given.length);
  const made = given.map(({ slug, name }) => ({ id: orderedId(), slug, name, createdAt: ctx.now }));
  const rows = made.map(({ createdAt, ...project }) => {
    return { ...project, organization_id: organization.id, created_at: createdAt };
  });
  const slugs = given.map(({ slug }) => slug).join(', ');
  const one = given.length === 1 ? 'The project' : 'One of the projects';
  await refusingDuplicate(insertRows('projects', rows), {
    message: `${one} ${slugs} already exists in ${organization.slug}.`,
    hint:
      given.length === 1
        ? { technical: 'Choose another short name with --slug (or `slug`).' }
        : { say: 'Plan again', operation: 'plan', with: { org: organization.slug } },
  });
  hold.created(
    'project',
    made.map(({ id }) => id),
  );
  await recordEvents(
    ctx,
    organization.id,
    made.map((project) => ({
      kind: 'project.created',
      ...eventAbout('project', project, organization.id),
    })),
  );
  // `map` keeps the length, but the type of its result does not.
  return made as { [At in keyof Given]: (typeof made)[number] };
}

/** A project by only its id, or by its slug in an organization. */
const refInput = z.strictObject({ org: ref.optional(), project: ref });

async function proveChange(ctx: Context, { org, project }: z.output<typeof refInput>) {
  if (org !== undefined) return requireAuthority(ctx, 'projects.change', org);
  if (!isUuid(project)) throw refuseField('org', 'is required, unless the project is an id');
  const { organizationId } = (await Project.findByPk(project.toLowerCase())) ?? {};
  return requireAuthorityOver(ctx, 'projects.change', organizationId, noProject(project));
}

/** Renames the project; its slug stays, so that links to it stay valid. */
export const renameProject = operation({
  authority: 'projects.change',
  prove: proveChange,
  input: refInput.extend({ name }),
  output: projectView,
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      const project = await requireProject(organization, input.project);
      const from = project.name;
      await project.update({ name: input.name });
      await recordEvent(ctx, {
        kind: 'project.renamed',
        ...eventAbout('project', project, organization.id),
        data: { from },
      });
      return readProject(ctx, project);
    }),
});

/** Deletes the project with its memberships; its people stay members of the organization. */
export const deleteProject = operation({
  authority: 'projects.change',
  prove: proveChange,
  input: refInput,
  output: projectView,
  ends: {
    ask: ({ name, members }) => `Delete ${name} (${counted(members, 'member')})?`,
    done: ({ name }) => `Deleted ${name}.`,
  },
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      // With this lock, a client can no longer name the project.
      const project = await holdProject(organization, input.project, 'whole');
      const view = await readProject(ctx, project);
      await requireUnused(project);
      await project.destroy();
      await recordEvent(ctx, {
        kind: 'project.deleted',
        ...eventAbout('project', project, organization.id),
        data: { members: view.members },
      });
      return view;
    }),
});

/** Refuses if clients accept only this project's members, and names the clients. */
async function requireUnused({ id: projectId, slug }: Project): Promise<void> {
  const clients = await Client.findAll({ where: { projectId }, order: ['name'] });
  if (clients.length === 0) return;
  const names = clients.map(({ name }) => name).join(', ');
  throw new Refusal('conflict', `These clients accept only members of ${slug}: ${names}.`, {
    hint: [
      'Change or remove them first.',
      { to: 'change one', operation: 'client.set' },
      { to: 'remove one', operation: 'client.remove' },
    ],
  });
}

async function readProject({ actor }: Context, project: Project) {
  const projectId = project.id;
  const members = await ProjectMembership.count({ where: { projectId } });
  const own =
    actor.kind === 'user'
      ? await ProjectMembership.findOne({ where: { projectId, accountId: actor.accountId } })
      : null;
  return viewProject(project, members, own?.role);
}
