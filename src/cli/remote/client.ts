import { createSecureContext, getCACertificates } from 'node:tls';
import { Agent, request } from 'undici';
import { Refusal, refuseField } from '../../errors.ts';
import { readVersion } from '../../version.ts';
import type { Server } from './find.ts';
import { readProblem, serverFailed } from './refusals.ts';

/** One request to the API of a server. */
export interface RemoteRequest {
  method: string;
  path: string;
  query?: Record<string, string>;
  body?: Record<string, unknown>;
}

/** A client for one server. The token goes to no other address. */
export interface RemoteClient {
  /** The JSON of the answer; undefined for an empty one. Refuses what the server refuses. */
  ask(asked: RemoteRequest): Promise<unknown>;
  close(): Promise<void>;
}

const patienceMs = 30_000;
const mostBytes = 64 * 1024 * 1024;

/** Makes a client: TLS is always verified, and no redirect is followed. */
export function openRemoteClient({ url: origin, token, ca }: Server): RemoteClient {
  const agent = new Agent({
    maxResponseSize: mostBytes,
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

/** The roots of this machine, and those of the given file. */
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
      hint: 'Name the address of the server itself.',
    });
  }
  const json = readJson(text);
  if (status >= 400) throw readProblem(origin, status, json);
  if (text === '') return undefined;
  if (json === undefined) throw serverFailed(`${origin} did not answer as idctl does.`);
  return json;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The refusal for a request that got no answer. */
function failureOf(origin: string, error: unknown): unknown {
  if (error instanceof Refusal || !(error instanceof Error)) return error;
  if (error.name === 'ServerFault') return error;
  if (error.name === 'TimeoutError' || error.name === 'ConnectTimeoutError')
    return serverFailed(`${origin} did not answer within ${patienceMs / 1000} seconds.`);
  const code = 'code' in error ? String(error.code) : error.name;
  if (/CERT|SIGNATURE|ISSUER|SELF_SIGNED|^ERR_TLS|^ERR_SSL|^EPROTO/.test(code)) {
    return serverFailed(`The certificate of ${origin} is not trusted: ${code}.`, {
      hint: 'If an authority of your own signed it, name its certificate with --ca-file of idctl login, or in IDCTL_CA_FILE.',
    });
  }
  return serverFailed(`${origin} cannot be reached: ${code}.`, {
    hint: 'Check the address, and that the daemon runs.',
  });
}
