import { Refusal } from '../../errors.ts';
import type { DirectoryFailure, DirectoryReason, DirectoryStage } from '../../reasons.ts';
import { failureWords, reasonOf } from '../failure.ts';

const words: Record<DirectoryFailure, string> = {
  ...failureWords,
  closed: 'closed the connection',
  malformed: 'answered with something that is not LDAP',
  starttls_refused: 'does not offer StartTLS',
  busy: 'says that it is too busy',
};

/** The refusal for a failed connection to a directory (L7). */
export function directoryFailed(
  host: string,
  at: DirectoryStage,
  reason: DirectoryFailure,
  cause?: unknown,
  more = '',
): Refusal {
  return new Refusal('upstream_failed', `${host} ${words[reason]}${more}`, {
    failure: { at, reason },
    extra: { at, reason },
    cause,
  });
}

/** The refusal for an error while connecting. `certificate` describes the received certificate. */
export function notConnected(
  host: string,
  at: DirectoryStage,
  error: unknown,
  certificate: string | null,
): Refusal {
  const reason = reasonOf(error);
  if (reason === 'tls_untrusted' && certificate !== null)
    return directoryFailed(host, at, reason, error, `: ${certificate}`);
  if (reason === 'name_not_found') return directoryFailed(host, 'name', reason, error);
  // A server that does not support TLS closes the connection during the handshake.
  const speechless = at === 'TLS' && reason === 'unreachable';
  return directoryFailed(host, at, speechless ? 'tls_missing' : reason, error);
}

// The result codes of RFC 4511 appendix A, and the subcodes that Active Directory adds to code 49
// (MS-ADTS §3.1.1.3).

const bindReasons: Record<number, DirectoryReason> = {
  8: 'stronger_auth_required',
  13: 'encryption_required',
  32: 'credentials_refused',
  34: 'dn_malformed',
  48: 'anonymous_refused',
  49: 'credentials_refused',
  50: 'not_permitted',
  53: 'not_permitted',
};

const searchReasons: Record<number, DirectoryReason> = {
  1: 'bind_required',
  8: 'stronger_auth_required',
  10: 'referred',
  13: 'encryption_required',
  3: 'limit_exceeded',
  11: 'limit_exceeded',
  32: 'base_missing',
  34: 'base_missing',
  50: 'not_permitted',
};

const activeDirectory: Record<string, DirectoryReason> = {
  '525': 'user_unknown',
  '52e': 'wrong_password',
  '530': 'logon_hours',
  '531': 'workstation',
  '532': 'password_expired',
  '533': 'account_disabled',
  '701': 'account_expired',
  '773': 'must_change_password',
  '775': 'account_locked',
};

/** The reason for a refused bind. From the directory's text, takes only the subcode. */
export function bindReason(code: number, said: string): DirectoryReason {
  const data = /\bdata ([0-9a-f]{3})\b/i.exec(said)?.[1]?.toLowerCase() ?? '';
  return (code === 49 ? activeDirectory[data] : undefined) ?? bindReasons[code] ?? 'refused';
}

/** The reason for a refused search. */
export function searchReason(code: number): DirectoryReason {
  return searchReasons[code] ?? 'refused';
}
