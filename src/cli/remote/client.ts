import { createSecureContext, getCACertificates } from 'node:tls';
import { Agent, request } from 'undici';
import { Refusal, refuseField } from '../../errors.ts';
import { readVersion } from '../../version.ts';
import type { Server } from './find.ts';
import { readProblem, serverFailed, strange } from './refusals.ts';

/** One request to the API of a server. */
export interface RemoteRequest {
  method: string;
  path: string;
  query?: Record<string, string>;
  body?: Record<string, unknown>;
}

/** A client for one server. It sends the token to no other server. */
export interface RemoteClient {
  /** The JSON of the answer; undefined if it is empty. Throws the server's refusal. */
  ask(asked: RemoteRequest): Promise<unknown>;
  close(): Promise<void>;
}

const patienceMs = 30_000;
const maxBytes = 64 * 1024 * 1024;

/** Creates a client. It always verifies TLS and does not follow a redirect. */
export function openRemoteClient({ url: origin, token, ca }: Server): RemoteClient {
  const agent = new Agent({
    maxResponseSize: maxBytes,
    connect: { timeout: patienceMs, rejectUnauthorized: true, secureContext: rootsOf(ca) },
  });
  return {
    async ask({ method, path, query, body }) {
      const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
      try {
        const answer = await request(`${origin}${path}${search === '?' ? '' : search}`, {
          dispatcher: agent,
          method,
          headers: {
            authorization: `Bearer ${token}`,
            accept: 'application/json',
            prefer: 'return=representation',
            'user-agent': `idctl/${readVersion()}`,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          body: body === undefined ? null : JSON.stringify(body),
          signal: AbortSignal.timeout(patienceMs),
        });
        const text = await answer.body.text();
        return read(origin, answer.statusCode, text);
      } catch (error) {
        throw failureOf(origin, error);
      }
    },
    close: () => agent.destroy(),
  };
}

/** Node's root certificates and the given ones; undefined without given ones. */
function rootsOf(ca: string | undefined) {
  if (ca === undefined) return undefined;
  try {
    return createSecureContext({ ca: [...getCACertificates(), ca] });
  } catch {
    throw refuseField('--ca-file', 'cannot be read as certificates');
  }
}

function read(origin: string, status: number, text: string): unknown {
  if (status >= 300 && status < 400) {
    throw serverFailed(`${origin} answered with a redirect, which idctl does not follow.`, {
      hint: { technical: 'Use the address of the idctl server itself.' },
    });
  }
  const json = readJson(text);
  if (status >= 400) throw readProblem(origin, status, json);
  if (text === '') return undefined;
  if (json === undefined) throw strange(origin, status);
  return json;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Turns the error of a failed request into a refusal. Returns refusals and faults unchanged. */
function failureOf(origin: string, error: unknown): unknown {
  if (error instanceof Refusal || !(error instanceof Error)) return error;
  if (error.name === 'ServerFault') return error;
  if (error.name === 'TimeoutError' || error.name === 'ConnectTimeoutError')
    return serverFailed(`${origin} did not answer within ${patienceMs / 1000} seconds.`);
  const code = 'code' in error ? String(error.code) : error.name;
  if (/CERT|SIGNATURE|ISSUER|SELF_SIGNED|^ERR_TLS|^ERR_SSL|^EPROTO/.test(code)) {
    return serverFailed(`The certificate of ${origin} is not trusted: ${code}.`, {
      hint: {
        technical:
          'If your own authority signed it, give the certificate of that authority to idctl login with --ca-file, or set IDCTL_CA_FILE.',
      },
    });
  }
  return serverFailed(`The request to ${origin} failed: ${code}.`, {
    hint: 'Check the address, and check that the daemon is running.',
  });
}
