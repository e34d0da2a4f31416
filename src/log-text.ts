import { escaped } from './escape.ts';

/** One line of the log as JSON, told to a person at a terminal: short, and with a stack only for a bug. */
export function asText(json: string): string {
  const { level, time, msg, err, ...fields } = parsed(json);
  const said = msg === 'request' ? requestIn(fields) : [String(msg ?? ''), ...restOf(fields)];
  const lead = level === 'info' ? [clockOf(time)] : [clockOf(time), `${String(level)}:`];
  const line = [...lead, ...said].join(' ');
  return `${[escaped(line), ...stackOf(err)].join('\n')}\n`;
}

type Fields = Record<string, unknown>;

function parsed(json: string): Fields {
  // What comes here is what pino wrote a moment ago.
  return JSON.parse(json) as Fields;
}

/** By the clock of the machine, as the person reads it. */
function clockOf(time: unknown): string {
  return new Date(String(time)).toTimeString().slice(0, 8);
}

function requestIn({
  method,
  path,
  status,
  ms,
  code,
  reason,
  address,
  requestId,
  aborted,
}: Fields): string[] {
  const why = [code, reason].filter((part) => part !== undefined).join(', ');
  const failed = Number(status) >= 500;
  return [
    ...[String(method), String(path), String(status), `${String(ms)}ms`],
    ...(why === '' ? [] : [`(${why})`]),
    ...(aborted === true ? ['aborted'] : []),
    ...(address === null || address === undefined ? [] : [`from ${String(address)}`]),
    ...(failed ? [`requestId=${String(requestId)}`] : []),
  ];
}

function restOf(fields: Fields): string[] {
  return Object.entries(fields).map(([key, value]) => `${key}=${String(value)}`);
}

function stackOf(err: unknown): string[] {
  if (typeof err !== 'object' || err === null) return [];
  // As the log describes an error; that of a refusal has a message in place of a stack.
  const { stack, message, cause } = err as { stack?: unknown; message?: unknown; cause?: unknown };
  const told = typeof stack === 'string' ? stack : typeof message === 'string' ? message : '';
  const own = told === '' ? [] : told.split('\n').map((line) => `    ${escaped(line.trim())}`);
  return [...own, ...stackOf(cause)];
}
