import type { Command } from 'commander';
import type { z } from 'zod';
import type { passkeyView } from '../../services/people/passkeys/passkey.ts';
import { noun, user, verb } from '../command.ts';
import type { Fields } from '../output.ts';

const operations = () => import('../../services/signin/passkeys/operations.ts');

type Passkey = z.output<typeof passkeyView>;

const row: Fields<Passkey> = [
  ['Name', (view) => view.name],
  ['Signs in', signsIn],
  ['Synced', (view) => (view.backedUp ? 'yes' : 'no')],
  ['Added', (view) => view.createdAt],
  ['Used', (view) => view.lastUsedAt],
  ['ID', (view) => view.id, 'whole'],
];

function signsIn({ signsIn: alone, suspendedAt }: Passkey): string {
  if (!alone) return 'as second factor';
  return suspendedAt === undefined ? 'alone' : 'suspended';
}

export function addPasskeyCommands(program: Command): void {
  const passkey = noun(program, 'passkey', {
    summary: 'Passkeys, which people add on their account page',
    example: 'idctl passkey list --user ada@example.com',
  });
  verb(passkey, 'list', {
    summary: 'List the passkeys of an account',
    required: user,
    example: 'idctl passkey list --user ada@example.com',
    run: async (call) =>
      call.list((await operations()).listPasskeys.forOperator, row, 'There are no passkeys.'),
  });
  verb(passkey, 'remove <id>', {
    summary: 'Remove a passkey, and end the sessions that began with a passkey',
    required: user,
    destroys: true,
    example:
      'idctl passkey remove 01991f6e-5c1f-7d0e-8a4b-2f6c1d9e0b37 \\\n      --user ada@example.com --yes',
    run: async (call) =>
      call.destroy((await operations()).removePasskey.forOperator, {
        fields: row,
      }),
  });
}
