import { IncomingMessage } from 'node:http';

const passed = ['authorization', 'cookie', 'user-agent'] as const;

/** The parts of an inner request that the caller sets. The headers in `passed` are copied. */
interface Inner {
  method: 'GET' | 'POST';
  /** The path and query. */
  url: string;
  form?: Record<string, unknown>;
  accept: 'application/json' | 'text/html';
}

/**
 * A request as idctl's OpenID provider reads it. Its host is that of the base URL, whatever the
 * client sent, and it has only the listed headers.
 */
export function innerRequest(
  request: Pick<IncomingMessage, 'socket' | 'headers'>,
  baseUrl: string,
  of: Inner,
): IncomingMessage {
  const inner = new IncomingMessage(request.socket);
  const { host, protocol } = new URL(baseUrl);
  inner.method = of.method;
  inner.url = of.url;
  inner.headers = { host, 'x-forwarded-proto': protocol.slice(0, -1), accept: of.accept };
  for (const name of passed) {
    const value = request.headers[name];
    if (value !== undefined) inner.headers[name] = value;
  }
  if (of.form !== undefined) {
    const body = Buffer.from(encoded(of.form));
    inner.headers['content-type'] = 'application/x-www-form-urlencoded';
    inner.headers['content-length'] = String(body.length);
    inner.push(body);
  }
  inner.push(null);
  // Without this, Node would treat the request as broken and close the client's connection.
  inner.complete = true;
  return inner;
}

/** A form or a query as text. A field that was sent twice is written twice. */
export function encoded(fields: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    for (const one of [value].flat()) query.append(name, String(one));
  return query.toString();
}
