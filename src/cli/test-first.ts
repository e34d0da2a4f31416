import { Refusal } from '../errors.ts';
import { canAsk, confirmed } from './prompt.ts';
import type { Call } from './run.ts';
import type { Examination } from './steps.ts';

/** The option of commands that test a connection before people sign in by it. */
export const force = (tested: 'provider' | 'directory') => ({
  '--force': `do not test the ${tested} first`,
});

/** If the test failed, asks before saving. Without a terminal, it refuses and names `--force`. */
export async function requirePassed(
  call: Call,
  tested: 'provider' | 'directory',
  { ok, message, steps }: Examination,
): Promise<void> {
  if (ok) return;
  const change = steps.find((step) => !step.ok)?.hint;
  if (!canAsk()) {
    throw new Refusal(
      'not_confirmed',
      `The ${tested} failed the test, and nothing was changed. ${message}`,
      {
        hint: [change, 'To save it anyway, add --force.']
          .filter((part) => part !== undefined)
          .join(' '),
      },
    );
  }
  call.note(change === undefined ? message : `${message}\n${change}`);
  await confirmed(`The ${tested} failed the test. Save it anyway?`);
}
