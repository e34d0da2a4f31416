import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Refusal } from '../errors.ts';
import { asTyped } from '../host/typed-program.ts';
import { parse } from '../input.ts';
import { isLoopback } from '../text/address.ts';
import { shellWord } from '../text/shell-word.ts';
import { givenByEnvironment, typed } from './environment.ts';
import { givenByFile, readConfigFile } from './file.ts';
import { absolute, type Given, refuseAll, type SettingOrigin } from './given.ts';
import {
  type ConfigPaths,
  configPaths,
  defaultPaths,
  type Environment,
  searchedFiles,
} from './paths.ts';
import { type Config, configSchema, type Settings } from './schema.ts';
import { isReloadable, settings } from './setting-list.ts';

/** Options for finding the configuration. */
export interface LoadOptions {
  /** The file named by `--config`. */
  file?: string | undefined;
  /** The environment variables; by default, those of the process. */
  env?: Environment;
  /** The user id that decides the default paths; by default, that of the process. */
  uid?: number;
  /** The folder where relative paths in variables and options start; by default, the process's. */
  cwd?: string;
  /** Settings from command options, by key. They take precedence over all other sources. */
  overrides?: Readonly<Record<string, string>>;
  /** Whether the named file may be missing, as for `init`. */
  mayBeMissing?: boolean;
}

/** The configuration in use, and its sources. */
export interface LoadedConfig {
  config: Config;
  /** The file that was read, if any. */
  file: string | null;
  /** SHA-256 of the file, to detect a change. Only in memory: a file may hold secrets. */
  digest: string | null;
  /** A SHA-256 digest of the settings in the file that need a restart. */
  restDigest: string | null;
  /** The source of each setting's value, by key. */
  origins: Map<string, SettingOrigin>;
  /** By key, the place that sets each setting: a line of the file, a variable or an option. */
  wheres: Map<string, string>;
  /** Warnings for the operator about permitted settings, one sentence each. */
  warnings: string[];
}

/**
 * Loads the configuration from file, environment and options, checks it, and makes all paths
 * absolute. Refuses with `config_invalid`, naming the place of each fault.
 */
export async function loadConfig(options: LoadOptions = {}): Promise<LoadedConfig> {
  const { env = process.env, cwd = process.cwd() } = options;
  const { places, file, text } = await findFile(options, env, cwd);
  const errors: Refusal[] = [];
  const inFile = file === null ? new Map<string, Given>() : givenByFile(file, text, errors);
  const given = new Map([
    ...inFile,
    ...(await givenByEnvironment(env, cwd, errors)),
    ...givenByOptions(options.overrides ?? {}, cwd),
  ]);
  const checked = check(given, errors);
  refuseAll(errors);
  const config = complete(checked, places, given.has('baseUrl'));
  const origins = new Map<string, SettingOrigin>(
    settings().map(({ key }) => [key, given.get(key)?.origin ?? 'default']),
  );
  const wheres = new Map([...given].map(([key, { where }]) => [key, positionIn(where, key)]));
  const digest = file === null ? null : digestOf(text);
  const restDigest = file === null ? null : digestOf(restOf(inFile));
  const warnings = await warningsOf(config, file, origins);
  return { config, file, digest, restDigest, origins, wheres, warnings };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** The settings in the file that need a restart, sorted so that the digest is stable. */
function restOf(inFile: Map<string, Given>): string {
  const rest = [...inFile]
    .filter(([key]) => !isReloadable(key))
    .map(([key, { value }]) => [key, value]);
  return JSON.stringify(rest.toSorted());
}

async function findFile(
  options: LoadOptions,
  env: Environment,
  cwd: string,
): Promise<{ places: ConfigPaths; file: string | null; text: string }> {
  const named = options.file ?? (env['IDCTL_CONFIG'] || undefined);
  if (named !== undefined) {
    const file = resolve(cwd, named);
    const text = await readConfigFile(file);
    const places = configPaths(file, env);
    if (text !== null) return { places, file, text };
    if (options.mayBeMissing) return { places, file: null, text: '' };
    throw new Refusal('config_invalid', `${file} does not exist`, {
      hint: { technical: asTyped(`idctl init --config ${shellWord(named)}`) },
    });
  }
  for (const file of searchedFiles(env)) {
    const text = await readConfigFile(file);
    if (text !== null) return { places: configPaths(file, env), file, text };
  }
  return {
    places: defaultPaths(env, options.uid ?? process.getuid?.() ?? -1),
    file: null,
    text: '',
  };
}

function givenByOptions(
  overrides: Readonly<Record<string, string>>,
  cwd: string,
): Map<string, Given> {
  const given = new Map<string, Given>();
  for (const setting of settings()) {
    const text = overrides[setting.key];
    if (text === undefined) continue;
    given.set(setting.key, {
      value: absolute(setting, typed(setting, text), cwd),
      origin: 'option',
      where: setting.key,
    });
  }
  return given;
}

/** The checked settings. If any is invalid, `errors` gets the reasons, and defaults apply. */
function check(given: Map<string, Given>, errors: Refusal[]): Settings {
  const tree = {};
  for (const [key, { value }] of given) put(tree, key.split('.'), value);
  try {
    return parse(configSchema, tree);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    for (const fault of error.faults) {
      const message = `${whereOf(fault.path, given)} ${fault.message}`;
      errors.push(new Refusal('config_invalid', message, { faults: [fault] }));
    }
    return parse(configSchema, {});
  }
}

function put(tree: Record<string, unknown>, [name = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) {
    tree[name] = value;
    return;
  }
  tree[name] ??= {};
  // An earlier `put` created this node as an object: only sections have names below them.
  put(tree[name] as Record<string, unknown>, rest, value);
}

function whereOf(path: string, given: Map<string, Given>): string {
  for (const [key, { where }] of given) {
    if (path === key || path.startsWith(`${key}.`)) return where;
  }
  return path;
}

/** The place without the key at its end, because callers show the key beside the place. */
function positionIn(where: string, key: string): string {
  return where.endsWith(`: ${key}`) ? where.slice(0, -key.length - 2) : where;
}

function complete(found: Settings, places: ConfigPaths, isBaseUrlSet: boolean): Config {
  return {
    ...found,
    ...(isBaseUrlSet ? {} : { baseUrlUnset: true as const }),
    baseUrl: found.baseUrl ?? new URL(`http://${found.listen}`).origin,
    keyFile: found.keyFile ?? places.keyFile,
    database: { ...found.database, url: found.database.url ?? `sqlite:${places.databaseFile}` },
  };
}

async function warningsOf(
  config: Config,
  file: string | null,
  origins: Map<string, SettingOrigin>,
): Promise<string[]> {
  const warnings: string[] = [];
  if (config.trust.domains === 'off') {
    warnings.push(
      'trust.domains is off: an admin who configures single sign-on or a directory can sign in with any e-mail address',
    );
  }
  const { protocol, hostname } = new URL(config.baseUrl);
  if (protocol === 'http:' && !isLoopback(hostname)) {
    warnings.push(
      `baseUrl ${config.baseUrl} is plain http: passwords and cookies are sent unencrypted`,
    );
  }
  const metrics = config.metrics.listen?.replace(/:\d+$/, '');
  if (metrics !== undefined && !isLoopback(metrics)) {
    warnings.push(
      `metrics.listen ${config.metrics.listen} is open to other machines: anyone who can reach it can read the metrics`,
    );
  }
  if (
    file !== null &&
    origins.get('database.url') === 'file' &&
    /^postgres/.test(config.database.url)
  ) {
    // Only the daemon's user can read the key file, so its owner is that user.
    const key = await stat(config.keyFile).catch(() => null);
    const warning = await readableByOthers(file, key?.uid);
    if (warning !== null) warnings.push(warning);
  }
  return warnings;
}

/**
 * A warning if other users can read a file with the database's password; otherwise null. `reader`
 * is the user id that still has to read the file afterwards, so it must own the file.
 */
export async function readableByOthers(file: string, reader?: number): Promise<string | null> {
  const { mode, uid } = await stat(file);
  if ((mode & 0o077) === 0) return null;
  const path = shellWord(file);
  const chown = reader === undefined || reader === uid ? '' : `chown ${reader} ${path} && `;
  return `${file} contains the database's password, and other users can read it. Run: ${chown}chmod 600 ${path}`;
}
