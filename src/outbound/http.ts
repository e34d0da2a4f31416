import { type SecureContext, TLSSocket } from 'node:tls';
import { Agent, buildConnector, type Dispatcher, fetch } from 'undici';
import { canonicalHost } from '../text/address.ts';
import { failureOf, requestFailed } from './failure.ts';
import { type Guard, wayOf } from './guard.ts';
import type { Limits } from './limits.ts';

/** The options of a request: some options of `fetch`, and `redirects` and `answer`. */
export interface RequestOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: URLSearchParams | Uint8Array | string | null;
  /** Aborts the request, for example at the deadline of a sign-in. */
  signal?: AbortSignal | undefined;
  /** `refuse` (default) refuses a redirect. `show` returns it. No redirect is ever followed. */
  redirects?: 'refuse' | 'show';
  /** Returns only the status. The body is read up to the limit and discarded. */
  answer?: 'status';
}

/**
 * Requests one URL and reads the whole response within the limits. Does not follow redirects.
 * Refuses with `upstream_failed` with a stable `reason` (timeout, too_large, redirected, …), or
 * passes on the guard's refusal.
 */
export type BoundedFetch = (url: string, options?: RequestOptions) => Promise<Response>;

/** A fetch and its pool of keep-alive connections. */
export interface HttpClient {
  fetch: BoundedFetch;
  close(): Promise<void>;
}

/** A client that can also test only the TLS connection. */
export interface GuardedClient extends HttpClient {
  /** Opens only the TLS connection; returns the certificate's expiry. Refuses like `fetch`. */
  handshake(url: URL): Promise<Date>;
}

/** The only client for URLs from tenants. The guard checks every address. */
export function guardedClient(
  guard: Guard,
  roots: SecureContext | undefined,
  limits: Limits,
): GuardedClient {
  const options = { timeout: limits.connect, allowH2: false, ...trust(roots) };
  const connectors = new Map<string, Connector>();
  const connect: Connector = (target, callback) => {
    const { protocol, port } = target;
    const key = `${protocol}${port}`;
    // The allowed addresses depend on the port, but the lookup function does not receive the port.
    const lookup = guard.checkedLookup(wayOf(new URL(`${protocol}//host:${port}`)));
    const connector = connectors.get(key) ?? buildConnector({ ...options, lookup });
    // Tenants choose ports, so only a limited number of connectors is kept.
    if (connectors.size < maxConnectors) connectors.set(key, connector);
    connector(target, callback);
  };
  const agent = new Agent({
    allowH2: false,
    maxResponseSize: limits.body,
    connect,
  });
  return {
    ...clientOf(agent, limits, (url) => guard.checkUrl(url)),
    handshake: (url) => {
      guard.checkUrl(url);
      return handshake(connect, url);
    },
  };
}

type Connector = ReturnType<typeof buildConnector>;
const maxConnectors = 100;

function handshake(connect: Connector, url: URL): Promise<Date> {
  const { host, protocol, port } = url;
  return new Promise((resolve, reject) => {
    connect({ host, hostname: canonicalHost(url.hostname), protocol, port }, (error, socket) => {
      if (error !== null) return reject(failureOf(error, host));
      const until = socket instanceof TLSSocket ? socket.getPeerCertificate().valid_to : '';
      socket.destroy();
      resolve(new Date(until));
    });
  });
}

/** The client for URLs that the operator configured. It has the same limits, but no guard. */
export function trustedClient(roots: SecureContext | undefined, limits: Limits): HttpClient {
  const connect = { timeout: limits.connect, ...trust(roots) };
  const agent = new Agent({ allowH2: true, maxResponseSize: limits.body, connect });
  return clientOf(agent, limits, () => undefined);
}

function trust(roots: SecureContext | undefined) {
  return roots === undefined ? {} : { secureContext: roots };
}

function clientOf(dispatcher: Dispatcher, limits: Limits, check: (url: URL) => void): HttpClient {
  return {
    async fetch(text, { signal, redirects = 'refuse', answer, ...request } = {}) {
      const url = new URL(text);
      check(url);
      const deadline = AbortSignal.timeout(limits.total);
      const until = signal ? AbortSignal.any([deadline, signal]) : deadline;
      try {
        const response = await fetch(url, {
          ...request,
          dispatcher,
          redirect: 'manual',
          signal: until,
        });
        if (response.status >= 300 && response.status < 400)
          return await readRedirect(response, url.host, redirects);
        if (answer === 'status') return await readStatus(response, url.host, limits.body);
        return await readWhole(response, url.host, limits.body);
      } catch (error) {
        throw failureOf(error, url.host);
      }
    },
    close: () => dispatcher.destroy(),
  };
}

type Incoming = Awaited<ReturnType<typeof fetch>>;

async function readRedirect(response: Incoming, host: string, redirects: 'refuse' | 'show') {
  await response.body?.cancel();
  if (redirects === 'refuse') throw requestFailed(host, 'redirected');
  return new Response(null, { status: response.status, headers: [...response.headers] });
}

async function readStatus(response: Incoming, host: string, limit: number) {
  const { status } = response;
  // Read the body so that the connection can be reused, but keep none of it: many receivers may
  // send slowly at the same time. A body that is too long is cut off; the status stays valid.
  await eachChunk(response, host, limit, () => {}).catch(() => undefined);
  return new Response(null, { status });
}

async function readWhole(response: Incoming, host: string, limit: number) {
  const chunks: Uint8Array[] = [];
  await eachChunk(response, host, limit, (chunk) => chunks.push(chunk));
  const { status, headers } = response;
  const body = Buffer.concat(chunks);
  return new Response(body.length === 0 ? null : body, { status, headers: [...headers] });
}

async function eachChunk(
  { body }: Incoming,
  host: string,
  limit: number,
  take: (chunk: Uint8Array) => void,
): Promise<void> {
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > limit) throw requestFailed(host, 'too_large');
    take(chunk);
  }
}

/**
 * Requests a configured URL. Returns any status and any redirect. Refuses with `upstream_failed`.
 */
export async function reach(url: string, roots: SecureContext | undefined, limits: Limits) {
  const client = trustedClient(roots, limits);
  try {
    const response = await client.fetch(url, { redirects: 'show' });
    const date = Date.parse(response.headers.get('date') ?? '');
    return {
      status: response.status,
      body: await response.text(),
      date: Number.isNaN(date) ? null : new Date(date),
    };
  } finally {
    await client.close();
  }
}
