import type { Refusal, RefusalKind } from '../../errors.ts';
import { routeText } from '../next.ts';
import { refusalHeaders, statuses } from '../refusals.ts';

/** The body of an error of RFC 6749 §5.2. */
export interface OAuthError {
  error: string;
  error_description: string;
}

/** The OAuth error of each refusal kind; a missing kind is a `server_error`. */
const errors: Partial<Record<RefusalKind, string>> = {
  invalid: 'invalid_request',
  tooLarge: 'invalid_request',
  mediaType: 'invalid_request',
  unauthenticated: 'invalid_client',
  forbidden: 'access_denied',
  limited: 'temporarily_unavailable',
  overloaded: 'temporarily_unavailable',
};

/** Turns a refusal into an error answer of RFC 6749 §5.2. */
export function oauthRefusal(refusal: Refusal): {
  status: number;
  headers: Record<string, string>;
  body: OAuthError;
} {
  const { code, kind, message } = refusal;
  const hint = routeText(refusal.hint);
  const error = code === 'unsupported_grant_type' ? code : (errors[kind] ?? 'server_error');
  const headers =
    kind === 'unauthenticated'
      ? { 'WWW-Authenticate': 'Basic realm="idctl"' }
      : refusalHeaders(refusal);
  const told = hint === undefined ? message : `${message} ${hint}`;
  return { status: statuses[kind], headers, body: { error, error_description: describable(told) } };
}

/** The answer to a bug. The client only learns where to look in the log. */
export function oauthFault(requestId: string): OAuthError {
  const description = `idctl failed on this request. For the cause, search its log for the request id ${requestId}.`;
  return { error: 'server_error', error_description: description };
}

/** RFC 6749 §5.2 allows only ASCII, without quotation marks and backslashes. */
function describable(text: string): string {
  return text.replaceAll('"', "'").replace(/[^\x20-\x5b\x5d-\x7e]/g, '?');
}
