import type { Command } from 'commander';
import type { z } from 'zod';
import type {
  invitationView,
  newInvitationView,
} from '../../services/tenancy/invitations/invitation.ts';
import { noun, org, verb } from '../command.ts';
import type { Fields } from '../output.ts';

const operations = () => import('../../services/tenancy/invitations/operations.ts');

const fields: Fields<z.output<typeof invitationView>> = [
  ['E-mail', (view) => view.email, 'whole'],
  ['Role', (view) => view.role],
  ['Expires', (view) => view.expiresAt],
  ['ID', (view) => view.id, 'whole'],
];

const made: Fields<z.output<typeof newInvitationView>> = [
  ['Link', (view) => view.url],
  ...fields,
  ['Mail', mailOf],
];

function mailOf({ email, mailed, mailLimited }: z.output<typeof newInvitationView>): string {
  if (mailed) return 'the daemon sends the link';
  return mailLimited
    ? `not sent: ${email} was mailed twice today. Send the link yourself.`
    : 'not sent: send the link yourself';
}

/** Declares `idctl invitation`. */
export function addInvitationCommands(program: Command): void {
  const invitation = noun(
    program,
    'invitation',
    'Invitations of people, with or without an account',
    'idctl invitation list --org acme',
  );
  verb(invitation, 'create <email>', {
    summary: 'Invite an address; mailed, if mail is set up; --quiet prints only the link',
    required: org,
    options: { '--role <role>': 'member (the default), admin or owner' },
    example: 'idctl invitation create ada@example.com --org acme',
    run: async (call) => {
      const { createInvitation } = await operations();
      const view = await call.operate(createInvitation);
      call.showSecret(view, made, ({ url }) => url);
      if (view.replaced) call.note('The earlier invitation no longer works.');
    },
  });
  verb(invitation, 'list', {
    summary: 'List the invitations that wait to be accepted',
    required: org,
    example: 'idctl invitation list --org acme',
    run: async (call) =>
      call.list((await operations()).listInvitations, fields, 'No invitation waits.'),
  });
  verb(invitation, 'revoke <id>', {
    summary: 'Revoke an invitation that was not accepted yet',
    options: org,
    destroys: true,
    example: 'idctl invitation revoke 0199c3a4-7c1e-7d55-8d1f-3f0e8a1b2c3d --yes',
    run: async (call) =>
      call.destroy((await operations()).revokeInvitation, {
        fields,
        question: ({ email }) => `Revoke the invitation of ${email}?`,
        done: ({ email }) => `Revoked the invitation of ${email}.`,
      }),
  });
}
