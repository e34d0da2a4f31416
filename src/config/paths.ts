import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { isLoopback } from '../text/address.ts';

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The paths of one instance: its configuration, master key and SQLite database. */
export interface ConfigPaths {
  configFile: string;
  keyFile: string;
  databaseFile: string;
}

interface Folders {
  config: string;
  data: string;
}

const fileName = 'idctl.yaml';
const system: Folders = { config: '/etc/idctl', data: '/var/lib/idctl' };

/** The default paths for `init`: system folders for root, XDG folders for others. */
export function defaultPaths(env: Environment, uid: number): ConfigPaths {
  return pathsIn(uid === 0 ? system : personal(env));
}

/** The configuration file of an instance that root has set up. */
export function systemFile(): string {
  return pathsIn(system).configFile;
}

/** The paths for this configuration file: beside it, unless it is in a default folder. */
export function configPaths(configFile: string, env: Environment): ConfigPaths {
  const folder = dirname(resolve(configFile));
  const known = [system, personal(env)].find(({ config }) => config === folder);
  return {
    ...pathsIn(known ?? { config: folder, data: folder }),
    configFile: resolve(configFile),
  };
}

/** The configuration files to try, in order, if no file is named. */
export function searchedFiles(env: Environment): string[] {
  return [personal(env), system].map(({ config }) => join(config, fileName));
}

/** The file that lists the servers that a person has logged in to. */
export function serversFile(env: Environment): string {
  return join(personal(env).config, 'servers.yaml');
}

function pathsIn({ config, data }: Folders): ConfigPaths {
  return {
    configFile: join(config, fileName),
    keyFile: join(config, 'master.key'),
    databaseFile: join(data, 'idctl.db'),
  };
}

function personal(env: Environment): Folders {
  const home = env['HOME'] || homedir();
  const folder = (variable: string, usual: string) => {
    const named = env[variable];
    // The XDG Base Directory specification says to ignore relative paths.
    return join(named && isAbsolute(named) ? named : join(home, usual), 'idctl');
  };
  return {
    config: folder('XDG_CONFIG_HOME', '.config'),
    data: folder('XDG_DATA_HOME', '.local/share'),
  };
}

/**
 * The listen address for a base URL with plain http on this machine. Null for other URLs, and for
 * ports that only root may use, as a proxy answers there.
 */
export function listenFor(baseUrl: string): string | null {
  const { protocol, hostname, port } = new URL(baseUrl);
  if (protocol !== 'http:' || !isLoopback(hostname) || Number(port) < 1024) return null;
  return `${hostname === 'localhost' ? '127.0.0.1' : hostname}:${port}`;
}
