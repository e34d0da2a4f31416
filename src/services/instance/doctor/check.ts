import { databaseRefusal } from '../../../database/refusals.ts';
import { Refusal, withReason } from '../../../errors.ts';
import { type Finding, wrong } from '../../../finding.ts';

/** What one check found. */
export interface Check {
  name: string;
  ok: boolean;
  /** What was expected; a person is told it when it is not so. */
  expected: string;
  /** What was seen. */
  message: string;
  /** The one thing to change; on a check that is ok, what is worth knowing. */
  hint?: string;
  /** It could not be looked at, which is no fault. */
  skipped?: true;
}

/** A time as a person is told it. */
export function shownTime(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, 'Z');
}

// Longer than any look takes by itself: what asks the network gives up after ten seconds.
const patience = 15_000;

/** Looks, for 15 seconds at most; whatever is thrown is a check that failed, never a doctor that did. */
export async function check(
  name: string,
  expected: string,
  look: () => Promise<Finding>,
): Promise<Check> {
  const finding = await within(patience, look).catch(told);
  const { ok, seen: message, hint } = finding;
  const unseen = ok && finding.skipped ? { skipped: true as const } : {};
  return { name, expected, ok, message, ...(hint === undefined ? {} : { hint }), ...unseen };
}

async function within(milliseconds: number, look: () => Promise<Finding>): Promise<Finding> {
  const { promise, resolve } = Promise.withResolvers<Finding>();
  const late = wrong(
    `no answer within ${milliseconds / 1000} seconds`,
    'See what keeps it, then look again.',
  );
  const timer = setTimeout(() => resolve(late), milliseconds);
  try {
    return await Promise.race([look(), promise]);
  } finally {
    clearTimeout(timer);
  }
}

function told(error: unknown): Finding {
  const refusal = error instanceof Refusal ? error : databaseRefusal(error);
  if (refusal !== null) {
    return wrong(
      withReason(refusal).message,
      refusal.hint ?? 'Fix this, then run idctl doctor again.',
    );
  }
  // Its message may hold what must not be shown.
  const name = error instanceof Error ? error.name : typeof error;
  return wrong(`looking failed (${name})`, 'This is a bug of idctl: please report it.');
}
