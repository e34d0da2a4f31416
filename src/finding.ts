// What a look at something outside found, step by step: for doctor, and for the tests of connections and directories.

/** What was found; `value` is what later steps need. A hint is the one thing to change, or what is worth knowing. */
export type Finding<Value = null> =
  | { ok: true; seen: string; hint?: string; value: Value; skipped?: true }
  | { ok: false; seen: string; hint: string };

/** It is as it should be. */
export function right(seen: string, hint?: string): Finding & { ok: true } {
  return { ok: true, seen, value: null, ...(hint === undefined ? {} : { hint }) };
}

/** It is as it should be, and later steps need this of it. */
export function found<Value>(value: Value, seen: string, hint?: string): Finding<Value> {
  return { ...right(seen, hint), value };
}

/** It is not, and this is the one thing to change. */
export function wrong(seen: string, hint: string): Finding<never> & { ok: false } {
  return { ok: false, seen, hint };
}

/** It could not be looked at, and why; that is no fault. */
export function skipped(why: string, hint?: string): Finding {
  return { ...right(`not looked at: ${why}`, hint), skipped: true };
}

/** One step as it is shown. */
export interface Step {
  name: string;
  ok: boolean;
  expected: string;
  seen: string;
  /** The one thing to change; on a step that is ok, what is worth knowing. */
  hint?: string;
}

/** What was found at a step, as it is shown. */
export function stepOf(name: string, expected: string, { ok, seen, hint }: Finding<unknown>): Step {
  return { name, ok, expected, seen, ...(hint === undefined ? {} : { hint }) };
}

type Look<Value> = () => Promise<Finding<Value>> | Finding<Value>;

/** Takes a step, keeps what it found, and answers it. */
export type Take = <Value>(
  name: string,
  expected: string,
  look: Look<Value>,
) => Promise<Finding<Value>>;

/** Steps taken in order; `around` runs each look, to limit its time or to turn an error into a finding. */
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
