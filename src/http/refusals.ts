import {
  type InputFault,
  maxFaults,
  Refusal,
  type RefusalCode,
  type RefusalKind,
  refusals,
} from '../errors.ts';
import type { Next } from '../next.ts';
import { cut } from '../text/cut.ts';
import { hintMembers } from './next.ts';

/** The HTTP status of each refusal kind. */
export const statuses: Record<RefusalKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  missing: 404,
  method: 405,
  conflict: 409,
  pending: 409,
  precondition: 412,
  tooLarge: 413,
  mediaType: 415,
  limited: 429,
  upstream: 502,
  overloaded: 503,
};

/** A problem object (RFC 9457) with idctl's own members. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  requestId: string;
  hint?: string;
  /** The value of the hint, if it names an operation. */
  next?: Next;
  errors?: InputFault[];
  /** How many more errors there are at least. */
  moreErrors?: number;
  [extra: string]: unknown;
}

/** The media type of a refusal, unless a page, OAuth or SCIM has its own form. */
export const problemType = 'application/problem+json';

/** The messages for clients: only the operator may learn the new database and the key file. */
const withheldFromClients: Partial<Record<RefusalCode, string>> = {
  database_moved:
    'The database of this daemon was moved. The log of the daemon names the new database.',
  key_invalid: 'This daemon cannot use its master key. Its log names the cause.',
};

/** Whether only the log has the refusal's message, and clients get another one. */
export function isWithheld({ code }: Refusal): boolean {
  return withheldFromClients[code] !== undefined;
}

/** The refusal as a client may see it, in every format: at most 16 KiB long (security X11). */
export function refusalForClients(refusal: Refusal): Refusal {
  const { code, retryAfter } = refusal;
  const shown = withheldFromClients[code];
  if (shown === undefined) return shortened(refusal);
  return new Refusal(code, shown, retryAfter === undefined ? {} : { retryAfter });
}

function shortened(refusal: Refusal): Refusal {
  const { code, message, hint, faults, moreFaults, retryAfter, ...rest } = refusal;
  return new Refusal(code, cut(message, 4000), {
    ...rest,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    hint,
    faults: faults.slice(0, maxFaults).map((fault) => {
      return { ...fault, path: cut(fault.path, 120), message: cut(fault.message, 360) };
    }),
    moreFaults: moreFaults + Math.max(0, faults.length - maxFaults),
  });
}

/** The problem object of a refusal. */
export function problemOf(
  refusal: Refusal,
  requestId: string,
  status = statuses[refusal.kind],
): Problem {
  return {
    ...refusal.extra,
    type: `urn:idctl:problem:${refusal.code}`,
    title: refusals[refusal.code].title,
    status,
    detail: refusal.message,
    code: refusal.code,
    requestId,
    ...hintMembers(refusal.hint),
    ...(refusal.faults.length === 0 ? {} : { errors: refusal.faults }),
    ...(refusal.moreFaults === 0 ? {} : { moreErrors: refusal.moreFaults }),
  };
}

/** The problem object of a bug. The client only learns where to look in the log. */
export function faultProblem(requestId: string): Problem {
  return {
    type: 'urn:idctl:problem:internal_error',
    title: 'Internal error',
    status: 500,
    detail: 'idctl failed on this request. For the cause, search its log for this request id.',
    code: 'internal_error',
    requestId,
  };
}

/** The extra headers of a refusal. */
export function refusalHeaders(refusal: Refusal): Record<string, string> {
  const { kind, code, retryAfter = 1 } = refusal;
  if (kind === 'unauthenticated') {
    const given = code === 'invalid_credential' ? ', error="invalid_token"' : '';
    return { 'WWW-Authenticate': `Bearer realm="idctl"${given}` };
  }
  if (kind === 'limited' || kind === 'overloaded')
    return { 'Retry-After': `${Math.ceil(retryAfter)}` };
  return {};
}

/**
 * The refusal for a request that Express cannot read; null for any other error. It does not keep
 * the error, whose message repeats the path (security X4).
 */
export function refusalOfExpress(error: unknown): Refusal | null {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (status !== 400) return null;
  return new Refusal('malformed_request', 'The request could not be read.');
}
