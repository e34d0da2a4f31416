import type { Next } from './next.ts';

// The findings of a step-by-step examination: for doctor, and for the tests of connections,
// directories and clients.

/**
 * The result of a step. Later steps use `value`. A hint says what to change, or adds information.
 */
export type Finding<Value = null> =
  | { ok: true; seen: string; hint?: Next; value: Value; skipped?: true }
  | { ok: false; seen: string; hint: Next };

/** The step is fine. */
export function right(seen: string, hint?: Next): Finding & { ok: true } {
  return { ok: true, seen, value: null, ...(hint === undefined ? {} : { hint }) };
}

/** The step is fine, and later steps need this value. */
export function found<Value>(value: Value, seen: string, hint?: Next): Finding<Value> {
  return { ...right(seen, hint), value };
}

/** The step failed. `hint` is the one thing to change. */
export function wrong(seen: string, hint: Next): Finding<never> & { ok: false } {
  return { ok: false, seen, hint };
}

/** The step could not run, for the reason `why`. This is not a fault. */
export function skipped(why: string, hint?: Next): Finding {
  return { ...right(`not checked: ${why}`, hint), skipped: true };
}

/** One step, as doctor or a test shows it. */
export interface Step {
  name: string;
  ok: boolean;
  /** The step could not run. This does not count as a failure. */
  skipped?: true;
  expected: string;
  seen: string;
  /** The one thing to change. On a step that is ok, further information. */
  hint?: Next;
}

/** A step and its finding, as doctor or a test shows them. */
export function stepOf(name: string, expected: string, finding: Finding<unknown>): Step {
  const { ok, seen, hint } = finding;
  const unseen = ok && finding.skipped ? { skipped: true as const } : {};
  return { name, ok, ...unseen, expected, seen, ...(hint === undefined ? {} : { hint }) };
}

/** The answer of a test: its steps, and a sentence about the failed steps, or `passed`. */
export function outcomeOf(steps: Step[], passed: string) {
  const failed = steps.filter(({ ok }) => !ok);
  const [step] = failed;
  if (step === undefined) return { ok: true, message: passed, steps };
  const message = `Step ${steps.indexOf(step) + 1}, ${step.name}, failed: ${step.seen}.`;
  const others = failed.length - 1;
  const more = others === 0 ? '' : others === 1 ? ' 1 more failed.' : ` ${others} more failed.`;
  return { ok: false, message: message + more, steps };
}

type Look<Value> = () => Promise<Finding<Value>> | Finding<Value>;

/** Runs a step, then stores and returns its finding. */
export type Take = <Value>(
  name: string,
  expected: string,
  look: Look<Value>,
) => Promise<Finding<Value>>;

/**
 * Runs steps in order. `around` wraps each one, to limit its time or to turn an error into a
 * finding.
 */
export function takingSteps(around: <Value>(look: Look<Value>) => Promise<Finding<Value>>): {
  steps: Step[];
  take: Take;
} {
  const steps: Step[] = [];
  const take: Take = async (name, expected, look) => {
    const finding = await around(look);
    steps.push(stepOf(name, expected, finding));
    return finding;
  };
  return { steps, take };
}
