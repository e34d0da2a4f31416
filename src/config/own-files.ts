import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { givenByFile, readConfigFile } from './file.ts';
import { configPaths, type Environment, searchedFiles, serversFile } from './paths.ts';
import { settings } from './setting-list.ts';

// The names that `init` and `login` give their files. Under sudo, the folder of the person who
// typed the command is unknown, so the names alone decide.
const usualFile = /\/idctl\/(idctl\.yaml|master\.key|servers\.yaml)$/;

/** Where this process looks for the files of idctl itself. */
export interface OwnPaths {
  env: Environment;
  cwd: string;
  /** The file named by `--config`. */
  config: string | undefined;
}

/** Creates a function that says whether an open file contains keys, settings or logins of idctl. */
export async function ownFileTest(
  places: OwnPaths,
): Promise<(file: { path: string; dev: bigint; ino: bigint }) => boolean> {
  const found = await Promise.all(
    (await ownFiles(places)).map((path) => stat(path, { bigint: true }).catch(() => null)),
  );
  // Device and inode also recognize a link, and a second name of the same file.
  return ({ path, dev, ino }) =>
    usualFile.test(path) || found.some((own) => own?.dev === dev && own.ino === ino);
}

/** The configurations, key files and stored logins, and the files that idctl's variables name. */
async function ownFiles({ env, cwd, config }: OwnPaths): Promise<string[]> {
  const named = [config, env['IDCTL_CONFIG'] || undefined].filter((file) => file !== undefined);
  const configs = [...named.map((file) => resolve(cwd, file)), ...searchedFiles(env)];
  const keys = await Promise.all(configs.map(keyFilesOf(env)));
  const variables = Object.entries(env).flatMap(([name, value]) =>
    /^IDCTL_(?!SECRET_).*_FILE$/.test(name) && value ? [resolve(cwd, value)] : [],
  );
  const credentials = env['CREDENTIALS_DIRECTORY'];
  const secrets = credentials ? settings().filter(({ secret }) => secret) : [];
  return [
    ...configs,
    ...keys.flat(),
    ...variables,
    ...secrets.map(({ key }) => join(credentials ?? '', key)),
    serversFile(env),
  ];
}

function keyFilesOf(env: Environment): (config: string) => Promise<string[]> {
  return async (config) => {
    // A command on a remote server does not need the configuration, so it may be unreadable.
    const text = await readConfigFile(config).catch(() => null);
    const given = text === null ? undefined : givenByFile(config, text, []).get('keyFile')?.value;
    const usual = configPaths(config, env).keyFile;
    return typeof given === 'string' ? [usual, given] : [usual];
  };
}
