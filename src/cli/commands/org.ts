import type { Command } from 'commander';
import type { z } from 'zod';
import type { organizationView } from '../../services/tenancy/organizations/view.ts';
import { shellWord } from '../../text/shell-word.ts';
import { noun, verb } from '../command.ts';
import { ifFound, make, slugOfGiven } from '../making.ts';
import type { Fields } from '../output.ts';
import type { Call } from '../run.ts';

const operations = () => import('../../services/tenancy/organizations/operations.ts');

type Organization = z.output<typeof organizationView>;

const fields: Fields<Organization> = [
  ['Slug', (view) => view.slug],
  ['Name', (view) => view.name],
  ['Created', (view) => view.createdAt],
  ['ID', (view) => view.id],
];

const row: Fields<Organization> = [
  ['Slug', (view) => view.slug, 'whole'],
  ['Name', (view) => view.name],
  ['ID', (view) => view.id, 'whole'],
];

export function addOrganizationCommands(program: Command): void {
  const org = noun(program, 'org', {
    summary: 'Organizations of this instance',
    example: 'idctl org list',
  });
  verb(org, 'create <name>', {
    summary: 'Create an organization',
    options: { '--slug <slug>': 'short name in paths (default: made from the name)' },
    makes: true,
    example: "idctl org create 'Acme Ltd' --slug acme",
    run: create,
  });
  verb(org, 'list', {
    summary: 'List the organizations',
    example: 'idctl org list',
    run: async (call) =>
      call.list((await operations()).listOrganizations, row, 'There are no organizations.'),
  });
  verb(org, 'show <org>', {
    summary: 'Show an organization',
    example: 'idctl org show acme',
    run: async (call) => call.perform((await operations()).showOrganization, fields),
  });
  verb(org, 'rename <org> <name>', {
    summary: 'Rename an organization; its slug stays',
    example: "idctl org rename acme 'Acme Limited'",
    run: async (call) => call.perform((await operations()).renameOrganization, fields),
  });
  verb(org, 'delete <org>', {
    summary: 'Delete an organization with its members, domains and connections',
    destroys: true,
    example: 'idctl org delete acme --yes',
    run: async (call) =>
      call.destroy((await operations()).deleteOrganization, {
        fields: [...fields, ['Members', (view) => view.members]],
      }),
  });
}

async function create(call: Call): Promise<void> {
  const { createOrganization, showOrganization } = await operations();
  const { made } = await make(call, createOrganization, {
    fields,
    find: async (given) =>
      ifFound(call.operate(showOrganization, { org: await slugOfGiven(given) })),
    has: ({ name }) => ({ name }),
  });
  // People on a remote server can create an organization only if `orgs.creation` is `anyone`. With
  // that setting, an organization never governs accounts because it is the only one.
  if (!made || call.server !== null) return;
  const { findOverruled } = await import('../../services/tenancy/signin-settings/operations.ts');
  const overruled = await call.operate(findOverruled, {});
  if (overruled !== null) call.note(heardNoMore(call, overruled));
}

/** The note for an organization that is no longer the only one, and has no verified domain (O1). */
function heardNoMore({ here }: Call, slug: string): string {
  return `The sign-in settings of ${slug} no longer apply to any account. ${slug} has no verified\ndomain and is no longer the only organization. Add a domain: ${here(`idctl domain add DOMAIN --org ${shellWord(slug)}`)}`;
}
