import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { ownFileTest } from '../config/own-files.ts';
import { connectionKinds } from '../connection-kinds.ts';
import { type InputFault, Refusal, refuseField } from '../errors.ts';
import { fileFault, isMissing } from '../host/file-fault.ts';
import { shellWord } from '../text/shell-word.ts';

// Reads the secrets that a document names. The author of a document may not be the person who
// applies it, so a document reaches only what that person has set aside for it (security X12).

/** What a document may read. */
export interface SecretRules {
  /** The folder of the document; null for a document from standard input. */
  folder: string | null;
  /** The folder named by `--secrets`. */
  secrets: string | undefined;
  /** The variables named by `--allow-env`. */
  allowEnv: readonly string[];
  /** The file named by `--config`. */
  config: string | undefined;
}

/** The source of a secret, and the host that will receive it. */
export type SecretSource = { field: string; host: string } & ({ env: string } | { file: string });

/** A secret that was read, and its place in the document. */
export interface FoundSecret {
  section: string;
  field: string;
  value: string;
  source: SecretSource;
}

/** Reads the secrets that the document names. A reference without a value becomes a fault. */
export async function readSecrets(
  document: unknown,
  rules: SecretRules,
): Promise<{ found: FoundSecret[]; faults: InputFault[] }> {
  const faults: InputFault[] = [];
  const found: FoundSecret[] = [];
  for (const { name: section, secret: field, address } of Object.values(connectionKinds)) {
    const settings = memberOf(document, section);
    const reference = memberOf(settings, field);
    if (reference === undefined) continue;
    const path = `${section}.${field}`;
    try {
      const read = await resolveSecret(reference, rules);
      if (read === null) continue;
      const { value, ...from } = read;
      const host = hostOf(memberOf(settings, address));
      found.push({ section, field, value, source: { field: path, ...from, host } });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.faults[0]?.path) throw error;
      faults.push({ path, message: error.faults[0]?.message ?? error.message });
    }
  }
  return { found, faults };
}

/**
 * The document with each secret that was read, or with `{withheld: true}` in its place. A secret that
 * could not be read is withheld too: its place in the document may hold the secret itself.
 */
export function withSecrets(
  document: unknown,
  found: readonly FoundSecret[],
  withheld: boolean,
): unknown {
  let whole = document;
  for (const { name: section, secret: field } of Object.values(connectionKinds)) {
    const reference = memberOf(memberOf(whole, section), field);
    if (!isObject(whole) || reference === undefined || keepsStored(reference)) continue;
    const read = found.find((one) => one.section === section && one.field === field);
    const secret = read === undefined || withheld ? { withheld: true } : { value: read.value };
    whole = { ...whole, [section]: { ...Object(whole[section]), [field]: secret } };
  }
  return whole;
}

type Read = { value: string } & ({ env: string } | { file: string });

/** The secret of a reference; null if the stored one stays. */
async function resolveSecret(reference: unknown, rules: SecretRules): Promise<Read | null> {
  const form = 'must be {env: NAME}, {file: PATH} or {unchanged: true}';
  if (!isObject(reference) || Object.keys(reference).length !== 1) throw refuseField('', form);
  if (keepsStored(reference)) return null;
  const { env, file } = reference;
  if (typeof env === 'string') return { value: readVariable(env, rules), env };
  if (typeof file !== 'string') throw refuseField('', form);
  const { text, path } = await readBelow(file, rules);
  const value = text.replace(/\r?\n$/, '');
  if (value === '') throw refuseField('', `${file} is empty`);
  return { value, file: path };
}

/** Whether the reference leaves the stored secret as it is. */
function keepsStored(reference: unknown): boolean {
  return (
    isObject(reference) && Object.keys(reference).length === 1 && reference['unchanged'] === true
  );
}

function readVariable(name: string, { allowEnv }: SecretRules): string {
  if (!name.startsWith('IDCTL_SECRET_') && !allowEnv.includes(name))
    throw refuseField(
      '',
      `the name ${name} must begin with IDCTL_SECRET_; to allow this variable, add --allow-env ${shellWord(name)}`,
    );
  const value = process.env[name];
  if (value) return value;
  throw refuseField('', `the variable ${name} is ${value === '' ? 'empty' : 'not set'}`);
}

/** A file that was read, and its real path. */
interface ReadFile {
  text: string;
  path: string;
}

/** Reads a file below the document's folder or `--secrets`. A relative path must fit only one. */
async function readBelow(file: string, rules: SecretRules): Promise<ReadFile> {
  const folders = [rules.folder, rules.secrets].filter((folder) => typeof folder === 'string');
  if (folders.length === 0)
    throw refuseField(
      '',
      'a document from standard input has no folder; name the folder of the files with --secrets DIR',
    );
  const roots = await Promise.all(folders.map((folder) => rootAt(folder, rules)));
  const isOwn = await ownFileTest({ env: process.env, cwd: process.cwd(), config: rules.config });
  const found = new Map<string, ReadFile>();
  let missing: unknown;
  for (const candidate of new Set(roots.map((root) => resolve(root, file)))) {
    const opened = await open(candidate, constants.O_RDONLY | constants.O_NONBLOCK).catch(
      (cause: unknown) => {
        if (!isMissing(cause)) throw unreadable(file, cause);
        missing = cause;
        return null;
      },
    );
    if (opened === null) continue;
    const read = await readOpened(opened, { file, roots, isOwn }).finally(() => opened.close());
    found.set(read.path, read);
  }
  const [first, ...others] = found.values();
  if (first === undefined) throw unreadable(file, missing);
  if (others.length === 0) return first;
  throw refuseField(
    '',
    `${file} is in the document's folder and in ${rules.secrets}; write the absolute path of the file`,
  );
}

async function rootAt(folder: string, { secrets }: SecretRules): Promise<string> {
  if (folder === '') throw refuseField('--secrets', 'is empty');
  return realpath(`${folder}/.`).catch((cause: unknown) => {
    if (folder !== secrets) throw unreadable(folder, cause);
    throw refuseField('--secrets', `${folder} ${fileFault(cause, 'read')}`);
  });
}

/** Reads the open file. All checks use this open file, so renaming it does not matter. */
async function readOpened(
  opened: FileHandle,
  { file, roots, isOwn }: { file: string; roots: string[]; isOwn: OwnFileTest },
): Promise<ReadFile> {
  const path = await readlink(`/proc/self/fd/${opened.fd}`);
  if (!roots.some((root) => isBelow(root, path)))
    throw refuseField(
      '',
      `${file} is not below the document's folder or --secrets DIR; move the file there, or name its folder with --secrets`,
    );
  const stats = await opened.stat({ bigint: true });
  if (!stats.isFile()) throw refuseField('', `${file} is not a regular file`);
  if (isOwn({ path, dev: stats.dev, ino: stats.ino }))
    throw refuseField(
      '',
      `${file} is one of idctl's own files, with its keys, settings or logins; a document cannot send it`,
    );
  return { text: await opened.readFile('utf8'), path };
}

type OwnFileTest = Awaited<ReturnType<typeof ownFileTest>>;

function isBelow(root: string, path: string): boolean {
  const rest = relative(root, path);
  return rest !== '' && rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}

function unreadable(file: string, cause: unknown): Refusal {
  return refuseField('', `${file} ${fileFault(cause, 'read')}`);
}

/** The host and port of a URL; empty if the text is not a URL, which the schema refuses later. */
function hostOf(url: unknown): string {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).host : '';
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
