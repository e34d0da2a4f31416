import type { Command } from 'commander';
import type { z } from 'zod';
import type {
  importedView,
  mappingRemovedView,
  mappingView,
} from '../../services/provisioning/mappings/view.ts';
import { rolesFrom, toldMapping, whenGiven } from '../../services/provisioning/mappings/words.ts';
import { noun, org, verb } from '../command.ts';
import { gaveText } from '../consequences.ts';
import { make } from '../making.ts';
import type { Fields } from '../output.ts';
import type { Call } from '../run.ts';
import { addPreview } from './mapping-preview.ts';

const operations = () => import('../../services/provisioning/mappings/operations.ts');

const fields: Fields<z.output<typeof mappingView>> = [
  ['Group', (view) => view.group],
  ['Project', (view) => view.project?.slug ?? '(organization)', 'whole'],
  ['Role', (view) => view.role ?? view.orgRole],
  ['ID', (view) => view.id, 'whole'],
];

const removed: Fields<z.output<typeof mappingRemovedView>> = [
  ...fields,
  ['Gave', ({ affected }) => gaveText(affected)],
];

type Imported = z.output<typeof importedView>;

const imported: Fields<Imported> = [
  ['Added', ({ added }) => added.map(toldMapping)],
  ['Kept', (view) => view.kept],
  ['Removed', ({ removed }) => removed.map(toldMapping)],
];

const roleOptions = {
  '--project <project>': 'the project, by id or slug',
  '--role <role>': 'the project role: viewer, commenter, member or admin',
  '--org-role <role>': 'instead of a project role: member or admin of the organization',
};

export function addMappingCommands(program: Command): void {
  const mappings = noun(program, 'mappings', {
    summary: 'Roles for the groups of directories, providers and SCIM',
    example: 'idctl mappings list --org acme',
  });
  verb(mappings, 'add', {
    summary: 'Map a group to a role in a project, or in the organization',
    required: { ...org, '--group <group>': 'the name, exactly as the provider sends it' },
    options: roleOptions,
    example:
      'idctl mappings add --org acme --group Developers --project website \\\n      --role member',
    makes: true,
    run: add,
  });
  verb(mappings, 'list', {
    summary: 'List the mappings',
    required: org,
    example: 'idctl mappings list --org acme',
    run: async (call) => call.table(await all(call), fields, 'There are no mappings.'),
  });
  verb(mappings, 'set <id>', {
    summary: 'Replace the role that a mapping gives',
    detail: 'Members of a SCIM group get the new role now, others at their next sign-in.',
    required: org,
    options: roleOptions,
    rehearsable: true,
    example:
      'idctl mappings set 0199c3a4-7c1e-7d55-8d1f-3f0e8a1b2c3d --org acme \\\n      --project website --role viewer',
    run: async (call) => {
      const { changeMapping } = await import('../../services/provisioning/mappings/change.ts');
      await call.perform(changeMapping, fields);
    },
  });
  verb(mappings, 'remove <id>', {
    summary: 'Remove a mapping; roles that it gave to members of a SCIM group end now',
    detail:
      'Roles from single sign-on end at the next sign-in, if the connection has --auto-remove. Roles from LDAP stay.',
    options: org,
    destroys: true,
    example: 'idctl mappings remove 0199c3a4-7c1e-7d55-8d1f-3f0e8a1b2c3d --yes',
    run: async (call) =>
      call.destroy((await operations()).removeMapping, {
        fields: removed,
      }),
  });
  addPreview(mappings);
  verb(mappings, 'import <file>', {
    summary: 'Add the mappings of a CSV or YAML file',
    required: org,
    detail: fileFormat,
    options: { '--replace': 'also remove the mappings that the file does not contain' },
    rehearsable: true,
    example: 'idctl mappings import mappings.csv --org acme --replace --dry-run',
    run: async (call) => {
      const { importMappings } = await operations();
      const { faultsOfOthers, inFile, readMappingFile } = await import('../mapping-file.ts');
      const { file, ...input } = call.input;
      const read = await readMappingFile(String(file));
      const given = { ...input, mappings: read.mappings };
      const asks = input['replace'] === true && !call.flags.dryRun;
      try {
        if (asks) await call.destroy(importMappings, { ...replacing, input: given });
        else await call.perform(importMappings, imported, given);
      } catch (error) {
        const rehearse = (mappings: unknown[]) =>
          call.rehearse(importMappings, { ...given, mappings });
        throw inFile(await faultsOfOthers(error, read.mappings, rehearse), read);
      }
    },
  });
  verb(mappings, 'export', {
    summary: 'Print the mappings as CSV, for idctl mappings import',
    required: org,
    example: 'idctl mappings export --org acme > mappings.csv',
    run: async (call) => {
      const { writeMappingFile } = await import('../mapping-file.ts');
      const views = await all(call);
      if (call.flags.json) return call.table(views, fields, '');
      const rows = views.map(({ group, project, role, orgRole }) => ({
        group,
        ...(project && { project: project.slug }),
        ...(role && { role }),
        ...(orgRole && { orgRole }),
      }));
      call.print(await writeMappingFile(rows));
    },
  });
}

async function add(call: Call): Promise<void> {
  const { view, made } = await make(call, (await operations()).addMapping, {
    fields,
    // A group may have several roles in a project, so all fields must match.
    find: async ({ group, project, role, orgRole }) =>
      (await all(call)).find(
        (one) =>
          one.group === group &&
          one.role === role &&
          one.orgRole === orgRole &&
          (one.project?.slug === project || one.project?.id === project),
      ),
  });
  if (made) call.note(whenGiven(view));
}

const fileFormat = `CSV begins with the line group,project,role or group,project,role,orgRole. A file
whose name ends with .yaml or .yml is a list with the same fields. Name a project by id
or slug. With - as the file, CSV is read from standard input. In CSV, put an apostrophe
before a group that begins with = + - or @; import removes it. Export adds it too.

  group,project,role
  Developers,website,member

  - {group: Developers, project: website, role: member}
  - {group: IT, orgRole: admin}`;

const replacing = {
  fields: imported,
  details: difference,
};

async function all(call: Call) {
  const { listMappings } = await operations();
  return call.every(listMappings, { org: call.input['org'] });
}

function difference({ added, removed: gone }: Imported): string[] {
  return [
    ...added.map((one) => `+ ${toldMapping(one)}`),
    ...gone.map((one) => [`- ${toldMapping(one)}`, ...rolesFrom(one)].join(' ')),
  ];
}
