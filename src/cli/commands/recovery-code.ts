import type { Command } from 'commander';
import type { z } from 'zod';
import type { newRecoveryCodesView } from '../../services/people/two-factor/recovery-codes.ts';
import { noun, user, verb } from '../command.ts';
import { type Hiding, performSecret } from '../making.ts';
import type { Fields } from '../output.ts';

const operations = () => import('../../services/people/two-factor/recovery-codes.ts');

type NewCodes = Hiding<z.output<typeof newRecoveryCodesView>, 'codes'>;

const made: Fields<NewCodes> = [
  ['Codes', (view) => view.codes],
  ['Made', (view) => view.createdAt],
];

export function addRecoveryCodeCommands(program: Command): void {
  const code = noun(program, 'recovery-code', {
    summary: 'Recovery codes, for people who lost their second factor',
    example: 'idctl recovery-code status --user ada@example.com',
  });
  verb(code, 'status', {
    summary: 'Show how many recovery codes are left',
    required: user,
    example: 'idctl recovery-code status --user ada@example.com',
    run: async (call) => {
      await call.perform((await operations()).showRecoveryCodes.forOperator, [
        ['Left', ({ remaining }) => remaining],
        ['Made', ({ createdAt }) => createdAt],
      ]);
    },
  });
  verb(code, 'regenerate', {
    summary: 'Make ten new recovery codes; the old ones are then refused',
    detail: 'With --quiet it prints only the codes, one on each line.',
    required: user,
    rehearsable: true,
    example: 'idctl recovery-code regenerate --user ada@example.com --yes',
    run: async (call) =>
      performSecret(call, (await operations()).regenerateRecoveryCodes.forOperator, {
        fields: made,
        secret: 'codes',
        question: () => 'Make new recovery codes? The old ones are then refused.',
      }),
  });
}
