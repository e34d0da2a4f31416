import { z } from 'zod';
import { databaseRefusal } from '../../../database/refusals.ts';
import { Refusal, withReason } from '../../../errors.ts';
import { type Finding, wrong } from '../../../finding.ts';
import { inTime } from '../../../host/in-time.ts';
import { nextText, type Todo } from '../../../next.ts';

export const checkView = z.object({
  name: z.string(),
  ok: z.boolean(),
  /** The expected state, shown if the check fails. */
  expected: z.string(),
  /** The actual state. */
  message: z.string(),
  /** The one thing to change. For a passed check, more information. */
  hint: nextText.optional(),
  /** Whether the check could not run. This is not a fault. */
  skipped: z.literal(true).optional(),
});

/** The result of one check. */
export type Check = z.output<typeof checkView>;

/** A time as shown to people. */
export function shownTime(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, 'Z');
}

const again: Todo = { to: 'check again', operation: 'doctor' };

// This is longer than the timeout of a network request, which is ten seconds.
const patience = 15_000;

/** Runs a check for at most 15 seconds. An error fails the check, but never stops `doctor`. */
export async function check(
  name: string,
  expected: string,
  look: () => Promise<Finding<unknown>>,
): Promise<Check> {
  const finding = await inTime<Finding<unknown>>(patience, look, tooLate).catch(failedFinding);
  const { ok, seen: message, hint } = finding;
  const unseen = ok && finding.skipped ? { skipped: true as const } : {};
  return { name, expected, ok, message, ...(hint === undefined ? {} : { hint }), ...unseen };
}

function tooLate(): Finding<never> {
  return wrong(`no answer within ${patience / 1000} seconds`, [
    'Find out what delays the answer.',
    again,
  ]);
}

/** The finding of a check that ended with an error. */
export function failedFinding(error: unknown): Finding<never> & { ok: false } {
  const refusal = error instanceof Refusal ? error : databaseRefusal(error);
  if (refusal !== null) {
    return wrong(withReason(refusal).message, refusal.hint ?? ['Fix this.', again]);
  }
  // The error's message may contain secrets.
  const name = error instanceof Error ? error.name : typeof error;
  return wrong(`the check failed (${name})`, 'This is a bug in idctl. Please report it.');
}
