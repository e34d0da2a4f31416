import { Chalk } from 'chalk';
import type { Next } from '../next.ts';
import { escaped } from '../text/escape.ts';
import { commandText } from './next.ts';
import { type Screen, writeBroken } from './output.ts';

/** The result of a test of a system, step by step. */
export interface Examination {
  ok: boolean;
  message: string;
  steps: readonly Step[];
}

interface Step {
  name: string;
  ok: boolean;
  /** The step is ok only because it could not be checked. */
  skipped?: true | undefined;
  expected?: string | undefined;
  seen?: string | undefined;
  hint?: Next | undefined;
}

/** Prints numbered steps. For a failed step, adds what was expected, what was seen, and the fix. */
export function printSteps({ message, steps }: Examination, screen: Screen): void {
  for (const [at, step] of steps.entries()) {
    screen.write(
      `${at + 1} ${mark(step, screen)} ${escaped(step.name)}${step.ok ? seenIn(step) : ''}\n`,
    );
    if (!step.ok) {
      line('expected', step.expected, screen);
      line('seen', step.seen, screen);
    }
    line(step.ok ? 'note' : 'change', commandText(step.hint), screen);
  }
  writeBroken('', message, screen);
}

function mark({ ok, skipped }: Step, { columns, colour }: Screen): string {
  if (skipped) return '-';
  if (!Number.isFinite(columns)) return ok ? 'ok' : 'failed';
  const chalk = new Chalk({ level: colour ? 1 : 0 });
  return ok ? chalk.green('✓') : chalk.red('✗');
}

function seenIn({ seen }: Step): string {
  return seen === undefined ? '' : `: ${escaped(seen)}`;
}

function line(title: string, text: string | undefined, screen: Screen): void {
  if (text !== undefined) writeBroken(`    ${`${title}:`.padEnd(10)}`, text, screen);
}

/** The error that ends a command with exit code 8: its result on stdout names work left to do. */
export function pendingResult(): Error {
  return Object.assign(new Error('the result is not final'), { name: 'PendingResult' });
}

/** The error that ends a command with exit code 1: its result on stdout names the fault. */
export function failedResult(): Error {
  return Object.assign(new Error('the result is a failure'), { name: 'FailedResult' });
}
