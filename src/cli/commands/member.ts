import type { Command } from 'commander';
import type { z } from 'zod';
import { Refusal } from '../../errors.ts';
import type { memberView } from '../../services/tenancy/memberships/membership.ts';
import { noun, org, verb } from '../command.ts';
import { credentialText, sessionsEndedField } from '../consequences.ts';
import { make } from '../making.ts';
import type { Fields } from '../output.ts';
import { canAsk } from '../prompt.ts';
import { requireHost } from '../reach.ts';
import type { Call } from '../run.ts';

const operations = () => import('../../services/tenancy/memberships/operations.ts');
const additions = () => import('../../services/tenancy/memberships/add.ts');

type Member = z.output<typeof memberView>;

const fields: Fields<Member> = [
  ['E-mail', (view) => view.email, 'whole'],
  ['Name', (view) => view.name],
  ['Role', (view) => view.role],
  ['Origin', (view) => view.origin.kind],
  ['Joined', (view) => view.joinedAt],
];

const role = { '--role <role>': 'member, admin or owner' };

export function addMemberCommands(program: Command): void {
  const member = noun(program, 'member', {
    summary: 'Members of an organization',
    example: 'idctl member list --org acme',
  });
  verb(member, 'add <email>', {
    summary: 'Add an existing account to an organization',
    detail:
      'If the address was never verified, anyone may have created the account. If the organization owns the domain of that address, the credentials of the account end first. On the host, the command then asks for confirmation, or needs --yes. --keep-credentials keeps them.',
    required: { ...org, ...role },
    options: {
      '--keep-credentials':
        'leave the credentials of an account whose address was never verified; host only',
    },
    makes: true,
    example: 'idctl member add ada@example.com --org acme --role admin',
    run: add,
  });
  verb(member, 'list', {
    summary: 'List the members',
    required: org,
    options: {
      '--search <text>': 'only people with this text in their name or address',
      '--role <role>': 'only this role: member, admin or owner',
    },
    example: 'idctl member list --org acme --search byron',
    run: async (call) => {
      const { search: q, ...input } = call.input;
      const { listMembers } = await operations();
      await call.list(listMembers, fields, 'There are no such members.', { ...input, q });
    },
  });
  verb(member, 'show <user>', {
    summary: 'Show a member, with their projects',
    required: org,
    example: 'idctl member show ada@example.com --org acme',
    run: async (call) => {
      const { showMember } = await import('../../services/tenancy/projects/of-member.ts');
      await call.perform(showMember, [
        ...fields,
        ['Projects', ({ projects }) => projects.map(({ slug, role }) => `${slug}: ${role}`)],
        ['More projects', ({ moreProjects }) => moreProjects],
      ]);
    },
  });
  verb(member, 'role <user>', {
    summary: 'Change the role of a member',
    required: { ...org, ...role },
    example: 'idctl member role ada@example.com --org acme --role owner',
    run: async (call) => call.perform((await operations()).changeMemberRole, fields),
  });
  verb(member, 'remove <user>', {
    summary: 'Remove a member from an organization; the account stays',
    required: org,
    destroys: true,
    example: 'idctl member remove ada@example.com --org acme --yes',
    run: async (call) =>
      call.destroy((await operations()).removeMember, {
        fields,
      }),
  });
  verb(member, 'reset-second-factor <user>', {
    summary: 'Remove the second factor of a member who lost it, and end their sessions',
    detail:
      'For a person with an address on a verified domain of the organization who belongs to no other organization. An owner can do it for everyone else, an admin for members.',
    required: org,
    destroys: true,
    example: 'idctl member reset-second-factor ada@example.com --org acme --yes',
    run: async (call) => {
      const { resetMemberFactor } = await import(
        '../../services/tenancy/second-factor/operations.ts'
      );
      await call.destroy(resetMemberFactor, {
        fields: [
          ...fields,
          ['Authenticator removed', (view) => view.authenticatorRemoved],
          ['Passkeys removed', (view) => view.passkeysRemoved],
          sessionsEndedField,
        ],
      });
    },
  });
  verb(member, 'leave', {
    summary: 'Leave an organization yourself; only on a remote server',
    required: org,
    destroys: true,
    example: 'idctl member leave --org acme --server https://id.acme.com --yes',
    run: async (call) => {
      if (call.server === null)
        throw new Refusal('invalid_input', 'The operator is not a member and cannot leave.', {
          hint: {
            technical:
              'To leave yourself, sign in with your own token first: idctl login URL. To remove a member: idctl member remove EMAIL',
          },
        });
      await call.destroy((await operations()).leaveOrganization, {
        fields,
      });
    },
  });
}

async function add(call: Call): Promise<void> {
  const { addMember, addMemberAsOperator } = await additions();
  const { keepCredentials, ...input } = call.input;
  if (keepCredentials === true) requireHost(call, '--keep-credentials');
  const making = {
    fields,
    find: async ({ org, email }: Record<string, unknown>) => {
      const members = await call.every((await operations()).listMembers, { org });
      return members.find((member) => member.email === email);
    },
    has: ({ role }: Member) => ({ role }),
  };
  if (call.server !== null) {
    await make(call, addMember, { ...making, input });
    return;
  }
  const credentials = keepCredentials === true ? 'keep' : await agreedFate(call, input);
  await make(call, addMemberAsOperator, { ...making, input: { ...input, credentials } });
}

/** Returns `end` with `--yes`, or once the user agrees to it. Undefined if this does not ask. */
async function agreedFate(call: Call, input: Record<string, unknown>): Promise<'end' | undefined> {
  if (call.flags.yes) return 'end';
  // If this does not ask, the service refuses such an account and names both options.
  if (call.flags.dryRun || !canAsk()) return undefined;
  const { findUnproven } = await additions();
  const found = await call.operate(findUnproven, input);
  if (found.length === 0) return undefined;
  call.note(
    `The address ${input['email']} was never verified. Anyone may have created this account.`,
  );
  call.note('--keep-credentials keeps its credentials.');
  await call.confirm(`End its credentials (${found.map(credentialText).join('; ')})?`);
  return 'end';
}
