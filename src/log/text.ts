import { escaped } from '../text/escape.ts';

/** One JSON log line as short text for a person at a terminal. A refusal does not show a stack. */
export function asText(json: string): string {
  const { level, time, msg, err, ...fields } = parsed(json);
  const said = msg === 'request' ? requestIn(fields) : [String(msg ?? ''), ...restOf(fields)];
  const lead = level === 'info' ? [clockOf(time)] : [clockOf(time), `${String(level)}:`];
  const line = [...lead, ...said].join(' ');
  return `${[escaped(line), ...stackOf(err)].join('\n')}\n`;
}

type Fields = Record<string, unknown>;

function parsed(json: string): Fields {
  // Always valid JSON: this process has just written the line.
  return JSON.parse(json) as Fields;
}

/** The time of day in the machine's time zone, for the person at the terminal. */
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
  // The form in which the log describes an error. A refusal has a message in place of a stack.
  const { stack, message, cause } = err as { stack?: unknown; message?: unknown; cause?: unknown };
  const told = typeof stack === 'string' ? stack : typeof message === 'string' ? message : '';
  const own = told === '' ? [] : told.split('\n').map((line) => `    ${escaped(line.trim())}`);
  return [...own, ...stackOf(cause)];
}
