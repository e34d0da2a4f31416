import { randomUUIDv7 } from 'node:crypto';
import { isIP } from 'node:net';
import type { Request, RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Actor } from '../context.ts';
import type { Refusal } from '../errors.ts';

/** What the log line of a request is made of, gathered while it is answered, and in which form it would be refused. */
export interface Trace {
  requestId: string;
  address: string | null;
  actor: Actor;
  refusal?: Refusal;
  speaks?: 'oauth' | 'html';
}

const traces = new WeakMap<Request, Trace>();

/** The trace of a request that `traceRequests` let in. */
export function traceOf(request: Request): Trace {
  const trace = traces.get(request);
  if (trace === undefined) throw new Error('the request has no trace');
  return trace;
}

/** Gives every request an id and, when it is over, one line in the log: never its query, headers or body (X4). */
export function traceRequests(log: Logger): RequestHandler {
  return (request, response, next) => {
    const trace: Trace = {
      requestId: randomUUIDv7(),
      address: clientAddress(request),
      actor: { kind: 'anonymous' },
    };
    const [startedAt, { method, path }] = [performance.now(), request];
    traces.set(request, trace);
    response.set('X-Request-Id', trace.requestId);
    response.once('close', () => {
      const { actor, refusal, address, requestId } = trace;
      const line = {
        requestId,
        method,
        path: path.slice(0, 256),
        status: response.statusCode,
        ms: Math.round(performance.now() - startedAt),
        ...(response.writableFinished ? {} : { aborted: true }),
        actor: actor.kind,
        ...(actor.kind === 'user' ? { accountId: actor.accountId } : {}),
        ...(refusal ? { code: refusal.code } : {}),
        ...reasonOf(refusal?.cause),
        address,
      };
      if (response.statusCode < 500) log.info(line, 'request');
      else log.error(line, 'request');
    });
    next();
  };
}

/** Why it was refused: a platform's error, or the reason that a sign-in does not tell outside. */
function reasonOf(cause: unknown): { reason?: string; err?: Error } {
  if (cause instanceof Error) return { err: cause };
  if (typeof cause !== 'object' || cause === null) return {};
  return {
    ...('reason' in cause && typeof cause.reason === 'string' ? { reason: cause.reason } : {}),
    ...('cause' in cause ? reasonOf(cause.cause) : {}),
  };
}

/**
 * The client's address: the socket's, or what the trusted proxies forwarded (P9). What they forward may be no
 * address at all; then the nearest proxy is all that is known.
 */
function clientAddress(request: Request): string | null {
  const forwarded = request.ip ?? '';
  const address = isIP(forwarded) ? forwarded : (request.socket.remoteAddress ?? null);
  return address?.replace(/^::ffff:(?=\d+\.)/i, '') ?? null;
}
