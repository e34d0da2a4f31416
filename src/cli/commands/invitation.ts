import type { Command } from 'commander';
import type { z } from 'zod';
import type {
  invitationView,
  newInvitationView,
} from '../../services/tenancy/invitations/invitation.ts';
import { noun, org, verb } from '../command.ts';
import { make } from '../making.ts';
import type { Fields } from '../output.ts';
import type { Call } from '../run.ts';

const operations = () => import('../../services/tenancy/invitations/operations.ts');

type New = z.output<typeof newInvitationView>;

/** A new invitation; or an existing invitation or member, with null for unknown fields. */
type Shown = { [Name in keyof New]: New[Name] | null };

const fields: Fields<Pick<Shown, 'email' | 'role' | 'expiresAt' | 'id'>> = [
  ['E-mail', (view) => view.email, 'whole'],
  ['Role', (view) => view.role],
  ['Expires', (view) => view.expiresAt],
  ['ID', (view) => view.id, 'whole'],
];

const states = {
  inviter_left: 'invalid: the inviter left',
  inviter_disabled: 'invalid: the inviter is disabled',
  inviter_role: 'invalid: the inviter may not invite people to this role',
};

const listed: Fields<z.output<typeof invitationView>> = [
  ...fields,
  ['State', ({ invalidBecause: reason }) => (reason === null ? 'valid' : states[reason])],
];

const made: Fields<Shown> = [['Link', (view) => view.url], ...fields, ['Mail', mailOf]];

function mailOf({ email, mailed, mailLimited }: Shown): string | null {
  if (mailed === null) return null;
  if (mailed) return 'the daemon sends the link';
  return mailLimited
    ? `not sent: ${email} already got two mails today. Send the link yourself.`
    : 'not sent: send the link yourself';
}

export function addInvitationCommands(program: Command): void {
  const invitation = noun(program, 'invitation', {
    summary: 'Invitations to an organization',
    example: 'idctl invitation list --org acme',
  });
  verb(invitation, 'create <email>', {
    summary: 'Invite an address, by mail if mail is set up; --quiet prints only the link',
    required: org,
    options: { '--role <role>': 'member (the default), admin or owner' },
    makes: true,
    example: 'idctl invitation create ada@example.com --org acme',
    run: create,
  });
  verb(invitation, 'list', {
    summary: 'List the pending invitations',
    required: org,
    example: 'idctl invitation list --org acme',
    run: async (call) =>
      call.list((await operations()).listInvitations, listed, 'There are no pending invitations.'),
  });
  verb(invitation, 'revoke <id>', {
    summary: 'Revoke a pending invitation',
    options: org,
    destroys: true,
    example: 'idctl invitation revoke 0199c3a4-7c1e-7d55-8d1f-3f0e8a1b2c3d --yes',
    run: async (call) =>
      call.destroy((await operations()).revokeInvitation, {
        fields: listed,
      }),
  });
}

async function create(call: Call): Promise<void> {
  const { createInvitation, listInvitations } = await operations();
  const { listMembers } = await import('../../services/tenancy/memberships/operations.ts');
  const { view, made: isNew } = await make<Shown>(call, createInvitation, {
    fields: made,
    secret: 'url',
    hides: ['token'],
    advice: 'Store the link now: it is not shown again.',
    // An invalid invitation is replaced.
    repeats: async ({ org, email }) => {
      const pending = (await call.every(listInvitations, { org })).find(
        (one) => one.email === email && one.invalidBecause === null,
      );
      return pending && { ...pending, ...unknown };
    },
    // An accepted invitation is no longer listed, but its person is a member and is refused.
    find: async ({ org, email }) => {
      const member = (await call.every(listMembers, { org })).find((one) => one.email === email);
      if (member === undefined) return undefined;
      return { id: null, email: member.email, role: member.role, expiresAt: null, ...unknown };
    },
    has: ({ role }) => ({ role }),
  });
  if (isNew && view.replaced) call.note('The earlier invitation is revoked.');
}

const unknown = {
  invalidBecause: null,
  token: null,
  url: null,
  mailed: null,
  mailLimited: null,
  replaced: null,
};
