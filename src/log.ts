import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from './config/schema.ts';
import { asText } from './log-text.ts';

// What may be logged is listed here; anything else is dropped, so that no secret gets in by being in
// an object (security X4). Pino asks no list for what a child logger is bound to: bind a request id alone.
const fields = new Set([
  ...[
    'requestId',
    'method',
    'path',
    'status',
    'ms',
    'aborted',
    'actor',
    'accountId',
    'address',
    'code',
  ],
  ...[
    'event',
    'organizationId',
    'domain',
    'host',
    'reason',
    'job',
    'count',
    'signal',
    'version',
    'listen',
  ],
  ...['baseUrl', 'dialect', 'migration', 'file', 'pid', 'metrics', 'settings', 'seen'],
]);

/** What the log is made by; without a format it is `auto`. */
export interface LogSettings {
  log: Pick<Config['log'], 'level'> & Partial<Config['log']>;
}

/**
 * The structured log of the daemon: one line each, of listed scalar fields, an error and a message. It is JSON, or text
 * for people at a terminal.
 */
export function createLog({ log }: LogSettings, stream?: DestinationStream): Logger {
  const written = stream ?? pino.destination({ dest: 2, sync: true });
  const isText =
    log.format === 'text' || (log.format !== 'json' && !stream && process.stderr.isTTY === true);
  return pino(
    {
      level: log.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: listed },
      serializers: { err: (told: unknown) => told },
    },
    isText ? { write: (line) => written.write(asText(line)) } : written,
  );
}

function listed(given: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(given).filter(
    ([key, value]) =>
      key === 'err' || (fields.has(key) && (value === null || typeof value !== 'object')),
  );
  // A line with a refusal's code tells of no bug: where in the program it arose helps nobody.
  const isRefusal = 'code' in given;
  return Object.fromEntries(
    kept.map(([key, value]) => [key, key === 'err' ? describe(value, isRefusal) : value]),
  );
}

/** The stack, shortened. What JSON.parse says shows what it was given, which may be a secret: its frames alone. */
function tellable(error: Error): string {
  const stack = error.stack ?? error.message;
  if (!(error instanceof SyntaxError)) return stack.slice(0, 8192);
  return [error.name, ...stack.split('\n').filter((line) => /^ +at /.test(line))].join('\n');
}

/** An error by name, code and stack, with its causes: its other properties hold queries and bodies. */
function describe(error: unknown, isRefusal: boolean, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const told = tellable(error);
  return {
    type: error.name,
    ...('code' in error ? { code: String(error.code) } : {}),
    ...(isRefusal ? { message: told.split('\n', 1)[0] } : { stack: told }),
    ...(error.cause instanceof Error && depth < 4
      ? { cause: describe(error.cause, isRefusal, depth + 1) }
      : {}),
  };
}
