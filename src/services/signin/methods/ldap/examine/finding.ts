import { Refusal } from '../../../../../errors.ts';
import type {
  DirectoryFailure,
  DirectoryPlace,
  DirectoryQuery,
  DirectoryReason,
  DirectoryVisit,
} from '../../../../../outbound/outbound.ts';
import { failureHints, reasonWords } from './words.ts';

/** One step of an examination. */
export interface Step {
  name: string;
  ok: boolean;
  expected: string;
  seen: string;
  /** The one thing to change; on a step that is ok, what is worth knowing. */
  hint?: string;
}

/** What a step found; `value` is what the steps after it go on with. */
export type Finding<Value = null> =
  | { ok: true; seen: string; hint?: string; value: Value }
  | { ok: false; seen: string; hint: string };

/** Takes a step, and keeps what it found. */
export type Take = <V>(
  name: string,
  expected: string,
  look: () => Promise<Finding<V>>,
) => Promise<Finding<V>>;

/** Searches as the account of the trial. */
export type Ask = (query: DirectoryQuery) => ReturnType<DirectoryVisit['search']>;

/** Nothing wrong was found, and this is what the next steps need of it. */
export function found<Value>(value: Value, seen: string, hint?: string): Finding<Value> {
  return { ok: true, seen, value, ...(hint === undefined ? {} : { hint }) };
}

/** Something is wrong, and this is the one thing to change. */
export function wrong({ seen, hint }: { seen: string; hint: string }): Finding<never> {
  return { ok: false, seen, hint };
}

/** The directory refused, and this is its result code; `seen` stands in place of the sentence of the reason. */
export function refusedWith(
  { reason, code }: { reason: DirectoryReason; code: number },
  seen = reasonWords[reason].seen,
): Finding<never> {
  return wrong({ seen: `${seen} (LDAP result code ${code})`, hint: reasonWords[reason].hint });
}

/** What was found at a step, as it is told. */
export function viewStep(name: string, expected: string, finding: Finding<unknown>): Step {
  const { ok, seen, hint } = finding;
  return { name, ok, expected, seen, ...(hint === undefined ? {} : { hint }) };
}

/** Where and why a directory could not be talked with; any other error is a bug and goes on. */
export function unreached(error: unknown): { at: DirectoryPlace; finding: Finding<never> } {
  if (!(error instanceof Refusal) || error.kind !== 'upstream') throw error;
  const { message: seen, extra } = error;
  if (error.code === 'outbound_refused') {
    const at = extra['reason'] === 'plaintext' ? 'TLS' : 'name';
    return { at, finding: wrong({ seen, hint: error.hint ?? failureHints.unreachable }) };
  }
  // Written by the outbound room alone, from these two sets.
  const { at, reason } = extra as { at: DirectoryPlace; reason: DirectoryFailure };
  return { at, finding: wrong({ seen, hint: failureHints[reason] }) };
}
