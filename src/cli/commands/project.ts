import type { Command } from 'commander';
import type { z } from 'zod';
import type { projectView } from '../../services/tenancy/projects/view.ts';
import { noun, org, verb } from '../command.ts';
import type { Fields } from '../output.ts';

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

/** Declares `idctl project`. */
export function addProjectCommands(program: Command): void {
  const project = noun(
    program,
    'project',
    'Projects of an organization',
    'idctl project list --org acme',
  );
  verb(project, 'create <name>', {
    summary: 'Create a project',
    required: org,
    options: { '--slug <slug>': 'short name in paths (default: made from the name)' },
    example: "idctl project create 'New Website' --org acme --slug website",
    run: async (call) => call.perform((await operations()).createProject, fields),
  });
  verb(project, 'list', {
    summary: 'List the projects',
    required: org,
    example: 'idctl project list --org acme',
    run: async (call) =>
      call.list((await operations()).listProjects, row, 'There are no projects.'),
  });
  verb(project, 'rename <project> <name>', {
    summary: 'Give a project another name; its slug stays',
    required: org,
    example: "idctl project rename website 'Newer Website' --org acme",
    run: async (call) => call.perform((await operations()).renameProject, fields),
  });
  verb(project, 'delete <project>', {
    summary: 'Delete a project; its people stay in the organization',
    required: org,
    destroys: true,
    example: 'idctl project delete website --org acme --yes',
    run: async (call) =>
      call.destroy((await operations()).deleteProject, {
        fields,
        question: ({ name, members }) => `Delete ${name} (members: ${members})?`,
        done: ({ name }) => `Deleted ${name}.`,
      }),
  });
}
