import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from '../config/schema.ts';
import { createLogStream } from './stream.ts';
import { asText } from './text.ts';

// Besides errors, only these fields are logged, so that a secret inside an object never is
// (security X4). Pino does not filter a child logger's bindings: bind only a request id.
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
    'client',
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

/** The settings of the log; the format defaults to `auto`. */
export interface LogSettings {
  log: Pick<Config['log'], 'level'> & Partial<Config['log']>;
}

/**
 * Creates the structured log of a process. An entry has the listed scalar fields, an error and a
 * message. It is a line of JSON, or text for people at a terminal.
 */
export function createLog({ log }: LogSettings, stream?: DestinationStream): Logger {
  const isText =
    log.format === 'text' || (log.format !== 'json' && !stream && process.stderr.isTTY === true);
  const written = stream ?? createLogStream(isText ? (count) => asText(lost(count)) : lost);
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

/** The line that reports how many lines were lost. */
function lost(count: number): string {
  const line = { level: 'warn', time: new Date().toISOString(), count, msg: 'log lines were lost' };
  return `${JSON.stringify(line)}\n`;
}

function listed(given: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(given).filter(
    ([key, value]) =>
      key === 'err' || (fields.has(key) && (value === null || typeof value !== 'object')),
  );
  // A refusal is not a bug, so its stack helps no reader.
  const isRefusal = 'code' in given;
  return Object.fromEntries(
    kept.map(([key, value]) => [key, key === 'err' ? describe(value, isRefusal) : value]),
  );
}

/**
 * The error's stack, shortened. The message of a SyntaxError can quote a secret that JSON.parse
 * read, so only its name and frames are kept.
 */
function tellable(error: Error): string {
  const stack = error.stack ?? error.message;
  if (!(error instanceof SyntaxError)) return stack.slice(0, 8192);
  return [error.name, ...stack.split('\n').filter((line) => /^ +at /.test(line))].join('\n');
}

/**
 * An error by name, code and stack, with its causes. A refusal has its message and no stack. Other
 * properties may contain secrets.
 */
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
