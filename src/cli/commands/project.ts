import type { Command } from 'commander';
import type { z } from 'zod';
import { projectRoles } from '../../services/foundation/project-roles.ts';
import type { projectMemberView, projectView } from '../../services/tenancy/projects/view.ts';
import { noun, org, verb } from '../command.ts';
import { make, slugOfGiven } from '../making.ts';
import { fillOrganization } from '../organization.ts';
import type { Fields } from '../output.ts';
import type { Call } from '../run.ts';

const operations = () => import('../../services/tenancy/projects/operations.ts');

type Project = z.output<typeof projectView>;

const fields: Fields<Project> = [
  ['Slug', (view) => view.slug],
  ['Name', (view) => view.name],
  ['Members', (view) => view.members],
  ['Created', (view) => view.createdAt],
  ['ID', (view) => view.id],
];

const row: Fields<Project> = [
  ['Slug', (view) => view.slug, 'whole'],
  ['Name', (view) => view.name],
  ['Members', (view) => view.members],
  ['ID', (view) => view.id, 'whole'],
];

const place = { '--org <org>': 'the organization (or IDCTL_ORG), if you name the project by slug' };

/** Fills in the organization if the project is named by its slug. */
async function locate(call: Call): Promise<void> {
  const { isUuid } = await import('../../services/foundation/fields.ts');
  if (!isUuid(String(call.input['project']))) await fillOrganization(call, true);
}

export function addProjectCommands(program: Command): void {
  const project = noun(program, 'project', {
    summary: 'Projects of an organization',
    example: 'idctl project list --org acme',
  });
  verb(project, 'create <name>', {
    summary: 'Create a project',
    required: org,
    options: { '--slug <slug>': 'short name in paths (default: made from the name)' },
    makes: true,
    example: "idctl project create 'New Website' --org acme --slug website",
    run: create,
  });
  verb(project, 'list', {
    summary: 'List the projects',
    required: org,
    example: 'idctl project list --org acme',
    run: async (call) =>
      call.list((await operations()).listProjects, row, 'There are no projects.'),
  });
  verb(project, 'rename <project> <name>', {
    summary: 'Rename a project; its slug stays',
    options: place,
    rehearsable: true,
    example: "idctl project rename website 'Newer Website' --org acme",
    run: async (call) => {
      await locate(call);
      await call.perform((await operations()).renameProject, fields);
    },
  });
  verb(project, 'delete <project>', {
    summary: 'Delete a project; its members stay in the organization',
    options: place,
    destroys: true,
    example: 'idctl project delete website --org acme --yes',
    run: async (call) => {
      await locate(call);
      await call.destroy((await operations()).deleteProject, {
        fields,
      });
    },
  });
}

async function create(call: Call): Promise<void> {
  const { createProject, listProjects } = await operations();
  await make(call, createProject, {
    fields,
    find: async (given) => {
      const slug = await slugOfGiven(given);
      const projects = await call.every(listProjects, { org: given['org'] });
      return projects.find((project) => project.slug === slug);
    },
    has: ({ name }) => ({ name }),
  });
}

const memberOperations = () => import('../../services/tenancy/projects/members.ts');

const memberFields: Fields<z.output<typeof projectMemberView>> = [
  ['E-mail', (view) => view.email, 'whole'],
  ['Name', (view) => view.name],
  ['Role', (view) => view.role],
  ['Synced', (view) => view.synced],
  [
    'Origin',
    ({ origin }) =>
      origin.group === undefined ? origin.kind : `${origin.kind} of ${origin.group}`,
  ],
  ['Joined', (view) => view.joinedAt],
];

const at = {
  '--org <org>': 'the organization, by id or slug',
  '--project <project>': 'the project, by id or slug',
};
const role = { '--role <role>': 'viewer, commenter, member or admin' };

const grants = projectRoles.map(({ role, grants }) => `  ${role.padEnd(9)}  ${grants}`).join('\n');

export function addProjectMemberCommands(program: Command): void {
  const member = noun(program, 'project-member', {
    summary: `Members of a project. Their roles, lowest first:\n\n${grants}`,
    example: 'idctl project-member list --org acme --project website',
  }).summary('Members of a project');
  verb(member, 'add <user>', {
    summary: 'Add a member of the organization to a project',
    required: { ...at, ...role },
    makes: true,
    example:
      'idctl project-member add ada@example.com --org acme --project website \\\n      --role member',
    run: add,
  });
  verb(member, 'list', {
    summary: 'List the members of a project, and how each was added',
    required: at,
    example: 'idctl project-member list --org acme --project website',
    run: async (call) =>
      call.list(
        (await memberOperations()).listProjectMembers,
        memberFields,
        'The project has no members.',
      ),
  });
  verb(member, 'role <user>', {
    summary: "Change a member's project role; a synced member becomes manual",
    required: { ...at, ...role },
    example:
      'idctl project-member role ada@example.com --org acme \\\n      --project website --role admin',
    run: async (call) => call.perform((await memberOperations()).changeProjectMember, memberFields),
  });
  verb(member, 'remove <user>', {
    summary: 'Remove a member from a project',
    required: at,
    destroys: true,
    example:
      'idctl project-member remove ada@example.com --org acme \\\n      --project website --yes',
    run: async (call) =>
      call.destroy((await memberOperations()).removeProjectMember, {
        fields: memberFields,
      }),
  });
}

async function add(call: Call): Promise<void> {
  const { addProjectMember, listProjectMembers } = await memberOperations();
  await make(call, addProjectMember, {
    fields: memberFields,
    find: async ({ org, project, user }) => {
      const members = await call.every(listProjectMembers, { org, project });
      return members.find(({ userId, email }) => userId === user || email === user);
    },
    has: ({ role }) => ({ role }),
  });
}
