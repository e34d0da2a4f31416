import { z } from 'zod';
import { Refusal, type RefusalCode, refusals } from '../../errors.ts';
import { type Next, readNext } from '../../next.ts';

// Turns problem objects of a server into the refusals that the same command gives on the host.

const problem = z.looseObject({
  code: z.string(),
  detail: z.string(),
  hint: z.string().optional(),
  next: z.unknown().optional(),
  errors: z.array(z.looseObject({ path: z.string(), message: z.string() })).optional(),
  moreErrors: z.int().optional(),
});

type Problem = z.output<typeof problem>;

/** The common members of problem objects. All others go into `extra` of the refusal. */
const common = [
  ...['type', 'title', 'status', 'detail', 'code', 'requestId', 'hint', 'next'],
  ...['errors', 'moreErrors'],
];

/** The refusal for a server that cannot be reached, or whose answer idctl cannot use. */
export function serverFailed(message: string, options: { hint?: Next } = {}): Refusal {
  return new Refusal('server_failed', message, options);
}

/** Turns an answer of status 400 or higher into a refusal, or into a fault of the server. */
export function readProblem(origin: string, status: number, json: unknown): Error {
  const { data, success } = problem.safeParse(json);
  if (!success) return status >= 500 ? serverFault(origin, status) : strange(origin, status);
  if (isUnknownRoute(data)) {
    return serverFailed(`${origin} does not know this command, because its idctl is older.`, {
      hint: 'Update the server, or use an idctl of its version.',
    });
  }
  const code = knownCode(data.code) ?? codeFor(status);
  if (code === null) return serverFault(origin, status, data['requestId']);
  return refusalOf(code, data, remoteHint(origin, code, data.hint) ?? hintOf(data));
}

/** The server's hint. An older server sends only its text, and a newer one may name more. */
function hintOf({ hint, next }: Pick<Problem, 'hint' | 'next'>): Next | undefined {
  return readNext(next) ?? hint;
}

/** The hint for a person with a token, in place of one for a person with a session. */
function remoteHint(origin: string, code: RefusalCode, hint?: string): Next | undefined {
  const store = `Then store it: idctl login ${origin}`;
  if (code === 'scope_required') {
    const [scope] = /\b(write|admin)\b/.exec(hint ?? '') ?? ['admin'];
    return [
      `Create a token of scope ${scope} on the account page, ${origin}/.`,
      { say: 'Or the operator creates one on the host', operation: 'pat.create', with: { scope } },
      { technical: store },
    ];
  }
  if (code === 'session_required')
    return `Do this on the account page, ${origin}/. Or the operator does this on the host.`;
  if (code === 'invalid_credential')
    return {
      technical: `Create a token on the account page, ${origin}/. ${store} (or set IDCTL_TOKEN)`,
    };
  return undefined;
}

/** Whether the server has no such route. Older servers answer `not_found` in that case. */
function isUnknownRoute({ code, detail }: Problem): boolean {
  if (code === 'route_not_found' || code === 'method_not_allowed') return true;
  return code === 'not_found' && detail.startsWith('There is nothing at');
}

function refusalOf(code: RefusalCode, given: Problem, hint: Next | undefined): Refusal {
  const { detail, errors = [], moreErrors = 0 } = given;
  const more = Object.entries(given).filter(([name]) => !common.includes(name));
  return new Refusal(code, detail, {
    hint,
    faults: errors.map(({ path, message }) => ({ path, message })),
    moreFaults: moreErrors,
    extra: Object.fromEntries(more),
  });
}

function knownCode(code: string): RefusalCode | null {
  // The cast is safe, because `refusals` has this key.
  return Object.hasOwn(refusals, code) ? (code as RefusalCode) : null;
}

/** The code for a status, if the server's code is unknown here. Null for a fault of the server. */
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

/** The refusal for an answer that does not come from an idctl server. */
export function strange(origin: string, status: number): Refusal {
  return serverFailed(`${origin} did not answer like an idctl server (status ${status}).`, {
    hint: { technical: 'Check that this is the address of an idctl server.' },
  });
}

/** A fault of the server. Its exit code is 70, as for a bug on the host. */
function serverFault(origin: string, status: number, requestId?: unknown): Error {
  const where =
    typeof requestId === 'string' ? ` For the cause, search its log for ${requestId}.` : '';
  return Object.assign(new Error(`${origin} failed (status ${status}).${where}`), {
    name: 'ServerFault',
  });
}
