import { connect } from 'node:net';
import { parseSetCookie, stringifyCookie } from 'cookie';
import { request } from 'undici';

type Headers = Record<string, string | string[]>;

/** The answer to a request. */
export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Parsed if it is JSON; otherwise text. */
  // biome-ignore lint/suspicious/noExplicitAny: each test checks the parts that it reads
  body: any;
  cookies: ReturnType<typeof parseSetCookie>[];
}

/**
 * A client of one server. Unlike fetch, it does not add headers such as `accept`, and follows no
 * redirect.
 */
export interface Client {
  send(
    method: string,
    path: string,
    options?: { body?: unknown; headers?: Headers },
  ): Promise<Answer>;
  get(path: string, headers?: Headers): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Headers): Promise<Answer>;
  /** Posts a form, as OAuth requires. */
  form(path: string, fields: Record<string, string> | string, headers?: Headers): Promise<Answer>;
  /** The cookies kept from the answers, by name. */
  jar: Map<string, string>;
}

/**
 * Creates a client of the server at `base`. With `keepCookies`, it sends cookies back on every
 * path.
 */
export function createClient(
  base: string,
  options: { keepCookies?: boolean; headers?: Headers } = {},
): Client {
  const jar = new Map<string, string>();
  const send: Client['send'] = async (method, path, { body, headers = {} } = {}) => {
    const answer = await request(new URL(base + path), {
      // Undici types the methods that it knows; tests send others too.
      method: method as 'GET',
      headers: {
        ...(jar.size > 0 ? { cookie: stringifyCookie(Object.fromEntries(jar)) } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
        ...headers,
      },
      body: body === undefined || typeof body === 'string' ? (body ?? null) : JSON.stringify(body),
    });
    const text = await answer.body.text();
    const cookies = [answer.headers['set-cookie'] ?? []].flat().map((line) => parseSetCookie(line));
    if (options.keepCookies) for (const cookie of cookies) keep(jar, cookie);
    const json = /json\b/.test(String(answer.headers['content-type'])) && text !== '';
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: json ? JSON.parse(text) : text,
      cookies,
    };
  };
  return {
    send,
    get: (path, headers = {}) => send('GET', path, { headers }),
    post: (path, body, headers = {}) => send('POST', path, { body, headers }),
    form: (path, fields, headers = {}) => {
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      return send('POST', path, {
        body: new URLSearchParams(fields).toString(),
        headers: { ...type, ...headers },
      });
    },
    jar,
  };
}

function keep(jar: Map<string, string>, { name, value, maxAge }: Answer['cookies'][number]): void {
  if (maxAge === 0 || !value) jar.delete(name);
  else jar.set(name, value);
}

/** Sends these bytes, and returns the answer after the server closes the connection. */
export function sendBytes(base: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.once('error', reject).once('close', () => resolve(answer));
  });
}
