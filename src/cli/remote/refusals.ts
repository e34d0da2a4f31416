import { z } from 'zod';
import { Refusal, type RefusalCode, refusals } from '../../errors.ts';

// A problem object of the server becomes the refusal that the same command gives on the host.

const problem = z.looseObject({
  code: z.string(),
  detail: z.string(),
  hint: z.string().optional(),
  errors: z.array(z.looseObject({ path: z.string(), message: z.string() })).optional(),
});

type Problem = z.output<typeof problem>;

/** Members that every problem object has; the others belong to the refusal. */
const common = ['type', 'title', 'status', 'detail', 'code', 'requestId', 'hint', 'errors'];

/** The refusal of a server that is not there, or does not answer as this idctl needs. */
export function serverFailed(message: string, options: { hint?: string } = {}): Refusal {
  return new Refusal('server_failed', message, options);
}

/** The refusal, or the server's own fault, in an answer of status 400 or higher. */
export function readProblem(origin: string, status: number, json: unknown): Error {
  const { data, success } = problem.safeParse(json);
  if (!success) return status >= 500 ? serverFault(origin, status) : strange(origin, status);
  if (isUnknownRoute(data)) {
    return serverFailed(`${origin} does not know this command. Its idctl is older than this one.`, {
      hint: 'Update the server, or use the idctl of its version.',
    });
  }
  const code = knownCode(data.code) ?? codeFor(status);
  if (code === null) return serverFault(origin, status, data['requestId']);
  return refusalOf(code, { ...data, hint: hintFromAfar(origin, code, data.hint) });
}

/** The next step for a person with a token; the server's own hint is for people with a session. */
function hintFromAfar(origin: string, code: RefusalCode, hint?: string): string | undefined {
  const store = `Then store it: idctl login ${origin}`;
  if (code === 'scope_required') {
    const [scope] = /\b(write|admin)\b/.exec(hint ?? '') ?? ['admin'];
    return `Make a token of scope ${scope} on the account page, ${origin}/account. Or the operator makes one on the host: idctl pat create --user EMAIL --name NAME --scope ${scope}. ${store}`;
  }
  if (code === 'session_required')
    return `Do it on the account page, ${origin}/account. Or the operator does it on the host.`;
  if (code === 'invalid_credential')
    return `Make a token on the account page, ${origin}/account. ${store} (or set IDCTL_TOKEN)`;
  return hint;
}

/** Older servers answer `not_found` for a route that they do not have. */
function isUnknownRoute({ code, detail }: Problem): boolean {
  if (code === 'route_not_found' || code === 'method_not_allowed') return true;
  return code === 'not_found' && detail.startsWith('There is nothing at');
}

function refusalOf(code: RefusalCode, given: Problem): Refusal {
  const { detail, hint, errors = [] } = given;
  const more = Object.entries(given).filter(([name]) => !common.includes(name));
  return new Refusal(code, detail, {
    hint,
    faults: errors.map(({ path, message }) => ({ path, message })),
    extra: Object.fromEntries(more),
  });
}

function knownCode(code: string): RefusalCode | null {
  // `hasOwn` proves it; the compiler does not see that.
  return Object.hasOwn(refusals, code) ? (code as RefusalCode) : null;
}

/** For a code of a newer server: one of the same kind, by the status. Null for a fault of it. */
function codeFor(status: number): RefusalCode | null {
  const codes: Record<number, RefusalCode> = {
    400: 'invalid_input',
    401: 'unauthenticated',
    403: 'forbidden',
    404: 'not_found',
    412: 'version_mismatch',
    413: 'payload_too_large',
    415: 'unsupported_media_type',
    429: 'too_many_requests',
    502: 'upstream_failed',
    503: 'overloaded',
  };
  return codes[status] ?? (status < 500 ? 'conflict' : null);
}

function strange(origin: string, status: number): Refusal {
  return serverFailed(`${origin} did not answer as idctl does (status ${status}).`, {
    hint: 'Check that this is the address of an idctl server.',
  });
}

/** A fault of the server: exit code 70, as for a bug on the host. */
function serverFault(origin: string, status: number, requestId?: unknown): Error {
  const where = typeof requestId === 'string' ? ` Its log says why, under ${requestId}.` : '';
  return Object.assign(new Error(`${origin} failed (status ${status}).${where}`), {
    name: 'ServerFault',
  });
}
