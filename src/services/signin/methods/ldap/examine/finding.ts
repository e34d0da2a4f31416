import { Refusal } from '../../../../../errors.ts';
import { type Finding, wrong } from '../../../../../finding.ts';
import type {
  DirectoryFailure,
  DirectoryPlace,
  DirectoryQuery,
  DirectoryReason,
  DirectoryVisit,
} from '../../../../../outbound/directory/directory.ts';
import { failureHints, reasonWords } from './words.ts';

/** Searches as the service account of the trial. */
export type Ask = (query: DirectoryQuery) => ReturnType<DirectoryVisit['search']>;

/**
 * A finding for a refusal by the directory, with its result code. `seen` replaces the sentence of
 * the reason.
 */
export function refusedWith(
  { reason, code }: { reason: DirectoryReason; code: number },
  seen = reasonWords[reason].seen,
): Finding<never> {
  return wrong(`${seen} (LDAP result code ${code})`, reasonWords[reason].hint);
}

/** Where and why a directory could not be reached; any other error is a bug and is thrown again. */
export function unreached(error: unknown): { at: DirectoryPlace; finding: Finding<never> } {
  if (!(error instanceof Refusal) || error.kind !== 'upstream') throw error;
  const { message: seen, extra } = error;
  if (error.code === 'outbound_refused') {
    const at = extra['reason'] === 'plaintext' ? 'TLS' : 'name';
    return { at, finding: wrong(seen, error.hint ?? failureHints.unreachable) };
  }
  // Only the outbound code writes these fields, from these two sets.
  const { at, reason } = extra as { at: DirectoryPlace; reason: DirectoryFailure };
  return { at, finding: wrong(seen, failureHints[reason]) };
}
