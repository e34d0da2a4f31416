import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from '../errors.ts';
import { fileFault, isMissing } from '../host/file-fault.ts';
import { absolute, type Given, refuseUnknown } from './given.ts';
import type { Environment } from './paths.ts';
import { type Setting, settings } from './setting-list.ts';

const short: Readonly<Record<string, string>> = { IDCTL_DATABASE: 'IDCTL_DATABASE_URL' };
// The `IDCTL_` variables that are not settings.
const others = [
  'IDCTL_CONFIG',
  'IDCTL_ORG',
  'IDCTL_SERVER',
  'IDCTL_TOKEN',
  'IDCTL_TOKEN_FILE',
  'IDCTL_CA_FILE',
  'IDCTL_ORG_NAME',
  'IDCTL_OWNER',
  'IDCTL_OWNER_PASSWORD_FILE',
  'IDCTL_STARTED_AS',
];
// Test variables, and the secrets that a document may name (security X12).
const otherPrefixes = ['IDCTL_TEST_', 'IDCTL_SECRET_'];

/**
 * The settings in the environment, by key. A secret may also come from a file that a `…_FILE`
 * variable names, or from the systemd credential named like the setting. Adds refusals to `errors`,
 * such as for unknown `IDCTL_` variables.
 */
export async function givenByEnvironment(
  env: Environment,
  cwd: string,
  errors: Refusal[],
): Promise<Map<string, Given>> {
  const named = byFullName(env, errors);
  const given = new Map<string, Given>();
  for (const setting of settings()) {
    try {
      const found = (await fromVariable(setting, named)) ?? (await fromCredential(setting, env));
      if (found === null) continue;
      const value = absolute(setting, typed(setting, found.text), cwd);
      given.set(setting.key, { value, origin: 'environment', where: found.where });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      errors.push(error);
    }
  }
  return given;
}

/** Converts an integer or a list to its type. Other text stays, and the schema checks it. */
export function typed(setting: Setting, text: string): unknown {
  if (setting.kind === 'integer' && /^-?\d+$/.test(text)) return Number(text);
  if (setting.kind !== 'list') return text;
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

interface Found {
  text: string;
  where: string;
}

/** The environment's settings by their full variable names. */
function byFullName(env: Environment, errors: Refusal[]): Map<string, Found> {
  const known = new Set(
    settings().flatMap(({ env: name, secret }) => (secret ? [name, `${name}_FILE`] : [name])),
  );
  const named = new Map<string, Found>();
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith('IDCTL_') || others.includes(name)) continue;
    if (otherPrefixes.some((prefix) => name.startsWith(prefix))) continue;
    const full = fullName(name);
    if (!known.has(full)) {
      errors.push(refuseUnknown(name, name, [...known, ...Object.keys(short)]));
      continue;
    }
    // An empty variable counts as unset, as in compose files. But for a list, it is an empty list.
    if (text === undefined || (text === '' && !isList(full))) continue;
    const twin = named.get(full);
    if (twin !== undefined) {
      errors.push(
        new Refusal('config_invalid', `${twin.where} and ${name} set the same value: keep one`),
      );
      continue;
    }
    named.set(full, { text, where: name });
  }
  return named;
}

function fullName(name: string): string {
  const stem = name.replace(/_FILE$/, '');
  const long = short[stem];
  return long === undefined ? name : long + name.slice(stem.length);
}

function isList(name: string): boolean {
  return settings().some((setting) => setting.env === name && setting.kind === 'list');
}

async function fromVariable(setting: Setting, named: Map<string, Found>): Promise<Found | null> {
  const direct = named.get(setting.env) ?? null;
  const file = setting.secret ? named.get(`${setting.env}_FILE`) : undefined;
  if (file === undefined) return direct;
  if (direct !== null) {
    throw new Refusal('config_invalid', `${direct.where} and ${file.where} are both set: keep one`);
  }
  const text = await readSecret(file.text);
  if (text === null) {
    const hint = `Put the secret into that file, or take ${file.where} out of the environment.`;
    throw new Refusal('config_invalid', `${file.where}: ${file.text} is missing`, { hint });
  }
  return { text, where: file.where };
}

async function fromCredential(setting: Setting, env: Environment): Promise<Found | null> {
  const folder = env['CREDENTIALS_DIRECTORY'];
  if (!setting.secret || !folder) return null;
  const text = await readSecret(join(folder, setting.key));
  return text === null ? null : { text, where: `the credential ${setting.key}` };
}

async function readSecret(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).replace(/\r?\n$/, '');
  } catch (cause) {
    if (isMissing(cause)) return null;
    const hint = 'Let the user that idctl runs as read this file, and no other user.';
    throw new Refusal('config_invalid', `${path} ${fileFault(cause, 'read')}`, { hint, cause });
  }
}
