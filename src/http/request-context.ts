import type { Request } from 'express';
import { type App, type Context, openContext } from '../context.ts';
import { traceOf } from './trace.ts';

/** The context of a request, with the actor that its trace knows so far. */
export function openRequest(app: App, request: Request): Context {
  const { actor, requestId, address } = traceOf(request);
  return {
    ...openContext(app, actor),
    log: app.log.child({ requestId }),
    requestId,
    client: { address, userAgent: request.headers['user-agent']?.slice(0, 512) ?? null },
  };
}
