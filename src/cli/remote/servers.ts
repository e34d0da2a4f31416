import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parse as parseYaml, stringify } from 'yaml';
import { z } from 'zod';
import { type Environment, serversFile } from '../../config/paths.ts';
import { Refusal } from '../../errors.ts';
import { fileFault, isMissing } from '../../host/file-fault.ts';
import { takeFileLock } from '../../host/file-lock.ts';
import { parse } from '../../input.ts';
import { shellWord } from '../../text/shell-word.ts';
import { serverUrl, tokenText } from './address.ts';

// `servers.yaml`: the servers that a person has logged in to. Only that person may read the file.

const name = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._:-]{0,99}$/i,
    'must begin with a letter or digit; at most 100 letters, digits, dots, colons, dashes or underscores',
  );

const stored = z.strictObject({
  url: serverUrl,
  token: tokenText,
  caFile: z.string().optional(),
});

const fileSchema = z.strictObject({
  current: name.nullable(),
  servers: z.record(name, stored),
});

type File = z.output<typeof fileSchema>;

/** A server that a person has logged in to. */
export type StoredServer = z.output<typeof stored> & { name: string; current: boolean };

/** The stored servers, by name. Refuses a file that other users may read. */
export async function readServers(env: Environment): Promise<StoredServer[]> {
  const { current, servers } = await readFile(env);
  return Object.entries(servers)
    .map(([called, server]) => ({ ...server, name: called, current: called === current }))
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

/** Stores a server as the current server. It replaces a stored server of the same name. */
export async function storeServer(
  env: Environment,
  { name: called, ...server }: z.input<typeof stored> & { name: string },
): Promise<void> {
  const checked = parse(z.object({ name }), { name: called }).name;
  await change(env, ({ servers }) => ({
    current: checked,
    servers: { ...servers, [checked]: server },
  }));
}

/** Forgets a server and returns it. Without a name, forgets the current server. */
export async function forgetServer(
  env: Environment,
  called: string | undefined,
): Promise<StoredServer> {
  const found = await requireStored(env, called);
  await change(env, ({ current, servers: { [found.name]: _, ...servers } }) => ({
    current: current === found.name ? null : current,
    servers,
  }));
  return found;
}

/** Makes a stored server the current server. */
export async function useServer(env: Environment, called: string): Promise<StoredServer> {
  const found = await requireStored(env, called);
  await change(env, (file) => ({ ...file, current: found.name }));
  return { ...found, current: true };
}

/**
 * Finds the server of this name, or the current server. Refuses with `not_found` if there is none.
 */
export async function requireStored(
  env: Environment,
  called: string | undefined,
): Promise<StoredServer> {
  const servers = await readServers(env);
  const found = servers.find(({ name, current }) => (called ? name === called : current));
  if (found !== undefined) return found;
  const names = servers.map((server) => server.name).join(', ');
  throw new Refusal(
    'not_found',
    called === undefined ? 'No server is in use.' : `There is no stored server ${called}.`,
    {
      hint:
        names === '' ? { technical: 'Log in first: idctl login URL' } : `Stored servers: ${names}`,
    },
  );
}

async function readFile(env: Environment): Promise<File> {
  const path = serversFile(env);
  const text = await readPrivate(path);
  if (text === null) return { current: null, servers: {} };
  try {
    return parse(fileSchema, parseYaml(text));
  } catch {
    // Drop the original error, because it would quote a token from the file.
    throw new Refusal('config_invalid', `${path} cannot be read as a list of servers.`, {
      hint: { technical: 'Remove the file, then log in again: idctl login URL' },
    });
  }
}

/** The text of the file; null if there is none. */
async function readPrivate(path: string): Promise<string | null> {
  try {
    const file = await open(path, 'r');
    try {
      // Check the mode of the opened file, because another file could replace it on disk.
      const { mode } = await file.stat();
      if ((mode & 0o077) !== 0) throw readableByOthers(path);
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    if (isMissing(cause)) return null;
    throw new Refusal('config_invalid', `${path} ${fileFault(cause, 'read')}.`, { cause });
  }
}

function readableByOthers(path: string): Refusal {
  return new Refusal('config_invalid', `Other users can read ${path}, which contains tokens.`, {
    hint: `Revoke those tokens if others could have read them. Then run: chmod 600 ${shellWord(path)}`,
  });
}

/** Changes the file; commands that run at the same time take turns. */
async function change(env: Environment, make: (file: File) => File): Promise<void> {
  const path = serversFile(env);
  const written = `${path}.${randomUUID()}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const lock = await takeFileLock(`${path}.lock`);
    try {
      const text = stringify(make(await readFile(env)));
      await writeFile(written, text, { mode: 0o600, flag: 'wx', flush: true });
      await rename(written, path);
    } finally {
      await rm(written, { force: true });
      lock.close();
    }
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    throw new Refusal('config_invalid', `${path} ${fileFault(cause, 'written')}.`, { cause });
  }
}
