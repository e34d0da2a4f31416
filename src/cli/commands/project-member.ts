import type { Command } from 'commander';
import type { z } from 'zod';
import { projectRoles } from '../../services/foundation/project-roles.ts';
import type { projectMemberView } from '../../services/tenancy/projects/view.ts';
import { noun, verb } from '../command.ts';
import type { Fields } from '../output.ts';
import type { Call } from '../run.ts';

const fields: Fields<z.output<typeof projectMemberView>> = [
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

/** Declares `idctl project-member`. */
export function addProjectMemberCommands(program: Command): void {
  const member = noun(
    program,
    'project-member',
    `Members of a project. Their roles, lowest first:\n\n${grants}`,
    'idctl project-member list --org acme --project website',
  ).summary('Members of a project');
  verb(member, 'add <user>', {
    summary: 'Add a member of the organization to a project',
    required: { ...at, ...role },
    example:
      'idctl project-member add ada@example.com --org acme --project website \\\n      --role member',
    run: (call) => put(call, 'absent'),
  });
  verb(member, 'list', {
    summary: 'List the members of a project, and how each was added',
    required: at,
    example: 'idctl project-member list --org acme --project website',
    run: async (call) => {
      const { listProjectMembers } = await import('../../services/tenancy/projects/members.ts');
      const views = await call.every(listProjectMembers);
      call.table(views, fields, 'The project has no members.');
    },
  });
  verb(member, 'role <user>', {
    summary: 'Give a member of a project another role; a synced one becomes manual',
    required: { ...at, ...role },
    example:
      'idctl project-member role ada@example.com --org acme \\\n      --project website --role admin',
    run: (call) => put(call, 'present'),
  });
  addRemove(member);
}

async function put(call: Call, expected: 'absent' | 'present'): Promise<void> {
  const { addProjectMember, changeProjectMember } = await import(
    '../../services/tenancy/projects/members.ts'
  );
  const operation = expected === 'absent' ? addProjectMember : changeProjectMember;
  call.show(await call.operate(operation), fields);
}

function addRemove(member: Command): void {
  verb(member, 'remove <user>', {
    summary: 'Remove a member from a project',
    required: at,
    destroys: true,
    example:
      'idctl project-member remove ada@example.com --org acme \\\n      --project website --yes',
    run: async (call) => {
      const { removeProjectMember } = await import('../../services/tenancy/projects/members.ts');
      await call.destroy(removeProjectMember, {
        fields,
        question: ({ email, name }) => `Remove ${email ?? name} from ${call.input['project']}?`,
        done: ({ email, name, synced }) =>
          `Removed ${email ?? name} from ${call.input['project']}.${synced ? ' Group sync adds them again at the next sign-in.' : ''}`,
      });
    },
  });
}
