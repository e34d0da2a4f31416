import { realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { shellWord } from '../text/shell-word.ts';

type Environment = Readonly<Record<string, string | undefined>>;

// How the person in front of this machine types idctl. A hint that cannot be typed does not help.

/**
 * The command as the person can type it here: with `sudo` if they used it for the instance of this
 * machine, which belongs to the system user; with the path of idctl if the shell does not find it.
 */
export function asTyped(command: string, env: Environment = process.env): string {
  const { SUDO_USER: invoker, IDCTL_CONFIG: config } = env;
  // sudo does not pass on IDCTL_CONFIG.
  const lead = invoker && invoker !== 'root' && !config ? 'sudo ' : '';
  return `${lead}${command.replace(/^idctl(?= |$)/, () => programWord(env))}`;
}

/** The word that starts this idctl in a shell: its name, or its path if the name leads elsewhere. */
function programWord({ IDCTL_STARTED_AS: path, PATH = '' }: Environment): string {
  const real = path ? realOf(path) : null;
  if (!path || real === null) return 'idctl';
  const named = PATH.split(delimiter).map((folder) => realOf(join(folder, 'idctl')));
  return named.find((file) => file !== null) === real ? 'idctl' : shellWord(path);
}

function realOf(file: string): string | null {
  try {
    return realpathSync(file);
  } catch {
    return null;
  }
}
