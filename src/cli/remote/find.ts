import { resolve } from 'node:path';
import type { Environment } from '../../config/paths.ts';
import { Refusal, refuseField } from '../../errors.ts';
import { parseField } from '../../input.ts';
import type { Flags } from '../operator.ts';
import { readNamedFile } from '../prompt.ts';
import { serverUrl, tokenText } from './address.ts';
import { readServers, requireStored, type StoredServer } from './servers.ts';

/** A remote server, and the token for it. */
export interface Server {
  url: string;
  token: string;
  /** PEM certificates to trust, in addition to Node's root certificates. */
  ca: string | undefined;
}

/** The server that `--server` or `IDCTL_SERVER` names; null if neither is given. */
export async function namedServer(
  flags: Pick<Flags, 'server'>,
  env: Environment,
): Promise<Server | null> {
  if (flags.server !== undefined) return serverOf(flags.server, '--server', env);
  const named = env['IDCTL_SERVER'];
  return named ? serverOf(named, 'IDCTL_SERVER', env) : null;
}

/** The server in use, with its stored token; null if no server is in use. */
export async function serverInUse(env: Environment): Promise<Server | null> {
  const current = (await readServers(env)).find((server) => server.current);
  return current === undefined ? null : withCa(current, env);
}

async function serverOf(
  named: string,
  from: '--server' | 'IDCTL_SERVER',
  env: Environment,
): Promise<Server> {
  if (!named.includes('://')) return withCa(await requireStored(env, named), env);
  const url = requireUrl(from, named);
  const token = isForUrl(url, from, env) ? await givenToken(env) : undefined;
  if (token !== undefined) return withCa({ url, token }, env);
  const stored = (await readServers(env)).filter((server) => server.url === url);
  const found = stored.find((server) => server.current) ?? stored[0];
  if (found !== undefined) return withCa(found, env);
  throw new Refusal('unauthenticated', `There is no token for ${url}.`, {
    hint: { technical: `Log in: idctl login ${url} (or set IDCTL_SERVER and IDCTL_TOKEN)` },
  });
}

/** Checks the address of a server; the refusal names the field. */
export function requireUrl(field: string, text: string): string {
  return parseField(field, serverUrl, text);
}

/** Whether `IDCTL_TOKEN` may go to this URL. If `IDCTL_SERVER` is set, no other server gets it. */
function isForUrl(url: string, from: '--server' | 'IDCTL_SERVER', env: Environment): boolean {
  const own = env['IDCTL_SERVER'];
  return from === 'IDCTL_SERVER' || !own || serverUrl.safeParse(own).data === url;
}

/** The token in `IDCTL_TOKEN`, or in the file that `IDCTL_TOKEN_FILE` names. */
async function givenToken(env: Environment): Promise<string | undefined> {
  const [direct, file] = [env['IDCTL_TOKEN'], env['IDCTL_TOKEN_FILE']];
  if (direct && file) throw refuseField('IDCTL_TOKEN', 'cannot be combined with IDCTL_TOKEN_FILE');
  if (direct) return requireToken('IDCTL_TOKEN', direct);
  if (!file) return undefined;
  const text = String(await readNamedFile('IDCTL_TOKEN_FILE', file));
  return requireToken('IDCTL_TOKEN_FILE', text);
}

/** Checks the form of a token; the refusal names the field and never the token. */
export function requireToken(field: string, text: string): string {
  return parseField(field, tokenText, text.trim());
}

async function withCa(
  { url, token, caFile }: Pick<StoredServer, 'url' | 'token' | 'caFile'>,
  env: Environment,
): Promise<Server> {
  const file = env['IDCTL_CA_FILE'];
  if (file) return { url, token, ca: await readCa('IDCTL_CA_FILE', resolve(file)) };
  return { url, token, ca: caFile && (await readCa('--ca-file', caFile)) };
}

/** Reads a PEM file of certificates. */
export async function readCa(field: string, file: string): Promise<string> {
  const pem = String(await readNamedFile(field, file));
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  throw refuseField(field, `${file} does not contain a PEM certificate`);
}
