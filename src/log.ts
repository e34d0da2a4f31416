import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from './config/schema.ts';

// What may be logged is listed here; anything else is dropped, so that no secret gets in by being in
// an object (security X4). Pino asks no list for what a child logger is bound to: bind a request id alone.
const fields = new Set([
  ...['requestId', 'method', 'path', 'status', 'ms', 'aborted', 'actor', 'accountId', 'address', 'code'],
  ...['event', 'organizationId', 'domain', 'host', 'reason', 'job', 'count', 'signal', 'version', 'listen'],
  ...['baseUrl', 'dialect', 'migration', 'file', 'pid'],
]);

/** The structured log of the daemon: one JSON line each, of listed scalar fields, an error and a message. */
export function createLog(config: Pick<Config, 'log'>, stream?: DestinationStream): Logger {
  return pino(
    {
      level: config.log.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: listed },
      serializers: { err: (error: unknown) => describe(error) },
    },
    stream ?? pino.destination({ dest: 2, sync: true }),
  );
}

function listed(given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(given).filter(
      ([key, value]) => key === 'err' || (fields.has(key) && (value === null || typeof value !== 'object')),
    ),
  );
}

/** The stack, shortened. What JSON.parse says shows what it was given, which may be a secret: its frames alone. */
function tellable(error: Error): string {
  const stack = error.stack ?? error.message;
  if (!(error instanceof SyntaxError)) return stack.slice(0, 8192);
  return [error.name, ...stack.split('\n').filter((line) => /^ +at /.test(line))].join('\n');
}

/** An error by name, code and stack, with its causes: its other properties hold queries and bodies. */
function describe(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  return {
    type: error.name,
    ...('code' in error ? { code: String(error.code) } : {}),
    stack: tellable(error),
    ...(error.cause instanceof Error && depth < 4 ? { cause: describe(error.cause, depth + 1) } : {}),
  };
}
