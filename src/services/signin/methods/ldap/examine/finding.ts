import { Refusal } from '../../../../../errors.ts';
import { type Finding, wrong } from '../../../../../finding.ts';
import type {
  DirectoryFailure,
  DirectoryPlace,
  DirectoryQuery,
  DirectoryReason,
  DirectoryVisit,
} from '../../../../../outbound/outbound.ts';
import { failureHints, reasonWords } from './words.ts';

/** Searches as the account of the trial. */
export type Ask = (query: DirectoryQuery) => ReturnType<DirectoryVisit['search']>;

/** The directory refused, and this is its result code; `seen` stands in place of the sentence of the reason. */
export function refusedWith(
  { reason, code }: { reason: DirectoryReason; code: number },
  seen = reasonWords[reason].seen,
): Finding<never> {
  return wrong(`${seen} (LDAP result code ${code})`, reasonWords[reason].hint);
}

/** Where and why a directory could not be talked with; any other error is a bug and goes on. */
export function unreached(error: unknown): { at: DirectoryPlace; finding: Finding<never> } {
  if (!(error instanceof Refusal) || error.kind !== 'upstream') throw error;
  const { message: seen, extra } = error;
  if (error.code === 'outbound_refused') {
    const at = extra['reason'] === 'plaintext' ? 'TLS' : 'name';
    return { at, finding: wrong(seen, error.hint ?? failureHints.unreachable) };
  }
  // Written by the outbound room alone, from these two sets.
  const { at, reason } = extra as { at: DirectoryPlace; reason: DirectoryFailure };
  return { at, finding: wrong(seen, failureHints[reason]) };
}
