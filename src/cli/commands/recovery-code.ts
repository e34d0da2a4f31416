import type { Command } from 'commander';
import { noun, user, verb } from '../command.ts';
import type { Fields } from '../output.ts';
import type { Call } from '../run.ts';

const operations = () => import('../../services/people/two-factor/recovery-codes.ts');

const made: Fields<{ createdAt: string }> = [['Made', ({ createdAt }) => createdAt]];

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
    summary: 'Create ten new recovery codes; the old ones are then refused',
    detail: 'With --quiet it prints only the codes, one on each line.',
    required: user,
    rehearsable: true,
    example: 'idctl recovery-code regenerate --user ada@example.com --yes',
    run: regenerate,
  });
}

async function regenerate(call: Call): Promise<void> {
  const { regenerateRecoveryCodes: operation } = await operations();
  if (call.flags.dryRun) {
    const { createdAt } = await call.rehearse(operation.forOperator);
    call.note('Dry run: nothing was changed.');
    call.show({ codes: null, createdAt }, made);
    return;
  }
  await call.confirm('Create new recovery codes? The old ones are then refused.');
  const view = await call.operate(operation.forOperator);
  showCodes(call, view, made, view.codes);
}

/** Shows a view, then its codes, one on each line. With `--quiet`, only the codes. */
export function showCodes<View>(
  call: Call,
  view: View,
  fields: Fields<View>,
  codes: string[],
): void {
  if (call.flags.json || !call.flags.quiet) call.show(view, fields);
  if (!call.flags.json) call.print(`${codes.join('\n')}\n`);
  call.note(
    'Store the recovery codes now: they are not shown again. Each one is valid once, in place of a code of an authenticator app or a passkey.',
  );
}
