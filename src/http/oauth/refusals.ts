import type { Refusal, RefusalKind } from '../../errors.ts';
import { refusalHeaders, statuses } from '../refusals.ts';

/** The body of an error of RFC 6749 §5.2. */
export interface OAuthError {
  error: string;
  error_description: string;
}

/** What the kinds of refusals are called here; those that RFC 6749 has no word for come last. */
const errors: Partial<Record<RefusalKind, string>> = {
  invalid: 'invalid_request',
  tooLarge: 'invalid_request',
  mediaType: 'invalid_request',
  unauthenticated: 'invalid_client',
  forbidden: 'access_denied',
  limited: 'temporarily_unavailable',
  overloaded: 'temporarily_unavailable',
};

/** A refusal in the form of RFC 6749 §5.2. */
export function oauthRefusal(refusal: Refusal): {
  status: number;
  headers: Record<string, string>;
  body: OAuthError;
} {
  const { code, kind, message, hint } = refusal;
  const error = code === 'unsupported_grant_type' ? code : (errors[kind] ?? 'server_error');
  const headers =
    kind === 'unauthenticated'
      ? { 'WWW-Authenticate': 'Basic realm="idctl"' }
      : refusalHeaders(refusal);
  const told = hint === undefined ? message : `${message} ${hint}`;
  return { status: statuses[kind], headers, body: { error, error_description: describable(told) } };
}

/** The answer to a bug: says nothing of it but where to look. */
export function oauthFault(requestId: string): OAuthError {
  const description = `idctl failed on this request. Its log says why, under the request id ${requestId}.`;
  return { error: 'server_error', error_description: description };
}

/** RFC 6749 §5.2 allows neither quotation marks, backslashes nor anything beyond ASCII. */
function describable(text: string): string {
  return text.replaceAll('"', "'").replace(/[^\x20-\x5b\x5d-\x7e]/g, '?');
}
