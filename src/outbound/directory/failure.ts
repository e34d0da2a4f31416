import { Refusal } from '../../errors.ts';
import { failureWords, reasonOf } from '../http.ts';
import type { DirectoryFailure, DirectoryPlace } from '../outbound.ts';

const words: Record<DirectoryFailure, string> = {
  ...failureWords,
  closed: 'closed the connection',
  malformed: 'answered with something that is not LDAP',
  starttls_refused: 'does not offer StartTLS',
  busy: 'says that it is too busy',
};

/**
 * The refusal of a directory that cannot be reached or understood (security L7). `extra` has where
 * and why; `more` continues the sentence.
 */
export function directoryFailed(
  host: string,
  at: DirectoryPlace,
  reason: DirectoryFailure,
  cause?: unknown,
  more = '',
): Refusal {
  return new Refusal('upstream_failed', `${host} ${words[reason]}${more}`, {
    extra: { at, reason },
    cause,
  });
}

/**
 * The refusal for an error while connecting. `certificate` describes the received certificate, if
 * any.
 */
export function notConnected(
  host: string,
  at: DirectoryPlace,
  error: unknown,
  certificate: string | null,
): Refusal {
  const reason = reasonOf(error);
  if (reason === 'tls_untrusted' && certificate !== null)
    return directoryFailed(host, at, reason, error, `: ${certificate}`);
  if (reason === 'name_not_found') return directoryFailed(host, 'name', reason, error);
  // A server that does not understand our TLS greeting hangs up.
  const speechless = at === 'TLS' && reason === 'unreachable';
  return directoryFailed(host, at, speechless ? 'tls_missing' : reason, error);
}
