import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Where one instance keeps its configuration, its key and its embedded database. */
export interface ConfigPlaces {
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

/** Where `init` puts things when no file is named: the system's folders for root, else the XDG folders. */
export function defaultPlaces(env: Environment, uid: number): ConfigPlaces {
  return placesIn(uid === 0 ? system : personal(env));
}

/** The places of the instance that this configuration file describes: beside it, unless it is in a default folder. */
export function configPlaces(configFile: string, env: Environment): ConfigPlaces {
  const folder = dirname(resolve(configFile));
  const known = [system, personal(env)].find(({ config }) => config === folder);
  return {
    ...placesIn(known ?? { config: folder, data: folder }),
    configFile: resolve(configFile),
  };
}

/** The configuration files looked for, in order, when none is named. */
export function searchedFiles(env: Environment): string[] {
  return [personal(env), system].map(({ config }) => join(config, fileName));
}

function placesIn({ config, data }: Folders): ConfigPlaces {
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
    // XDG Base Directory: a relative path is to be ignored.
    return join(named && isAbsolute(named) ? named : join(home, usual), 'idctl');
  };
  return {
    config: folder('XDG_CONFIG_HOME', '.config'),
    data: folder('XDG_DATA_HOME', '.local/share'),
  };
}
