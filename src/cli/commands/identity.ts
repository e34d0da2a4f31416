import type { Command } from 'commander';
import type { z } from 'zod';
import type { identityView, unlinkedView } from '../../services/tenancy/identities/operations.ts';
import { noun, user, verb } from '../command.ts';
import type { Fields } from '../output.ts';

const operations = () => import('../../services/tenancy/identities/operations.ts');

type Identity = z.output<typeof identityView>;
type Unlinked = z.output<typeof unlinkedView>;

const row: Fields<Identity> = [
  ['Kind', (view) => view.kind],
  ['Issuer', (view) => view.issuer],
  ['Subject', (view) => view.subject],
  ['Linked', (view) => view.linkedAt],
  ['Former', (view) => view.former === true],
  ['ID', (view) => view.id, 'whole'],
];

const unlinked: Fields<Unlinked> = [
  ['Account', (view) => whose(view)],
  ['Identities', (view) => view.identities.map(({ issuer, subject }) => `${subject} at ${issuer}`)],
  ['Sessions ended', (view) => view.sessionsEnded],
];

export function addIdentityCommands(program: Command): void {
  const identity = noun(program, 'identity', {
    summary: 'External identities linked to accounts',
    example: 'idctl identity list --user ada@example.com',
  });
  verb(identity, 'list', {
    summary: 'List the external identities of an account',
    required: user,
    example: 'idctl identity list --user ada@example.com',
    run: async (call) =>
      call.list((await operations()).listIdentities, row, 'There are no identities.'),
  });
  verb(identity, 'unlink [id]', {
    summary: 'Unlink one identity, or all identities of an account',
    options: user,
    destroys: true,
    example: 'idctl identity unlink --user ada@example.com --yes',
    run: async (call) =>
      call.destroy((await operations()).unlinkIdentities, {
        fields: unlinked,
      }),
  });
}

function whose({ email, name }: Unlinked): string {
  return email ?? name;
}
