import type { Command } from 'commander';
import { Refusal } from '../errors.ts';

/** Where a command works: on the daemon's host, there and remotely, or without an instance. */
export type Reach = 'host' | 'both' | 'anywhere';

const ofHost = [
  'init',
  'serve',
  'migrate',
  'config',
  'backup',
  'restore',
  'database',
  'key',
  'user',
  'identity',
  'doctor',
  'status',
  'mail',
];
const ofNone = ['version', 'completion', 'schema', 'login', 'logout', 'server'];

/** Where a command works, by the first word after `idctl`. */
export function reachOf(command: Command): Reach {
  if (command.parent !== null && command.parent.parent !== null) return reachOf(command.parent);
  return reachOfWord(command.name());
}

/** Where a command works, if this is the first word after `idctl`. */
export function reachOfWord(word: string): Reach {
  if (ofHost.includes(word)) return 'host';
  return ofNone.includes(word) ? 'anywhere' : 'both';
}

/** The sentence in the help of a command that does not work on a remote server. */
export const hostOnly = 'This command works only on the host of the daemon.';

/** The refusal of a command, or of an option, that only the operator on the host may use. */
export function onlyOnHost(hint: string, message = hostOnly): Refusal {
  return new Refusal('invalid_input', message, { hint });
}

/** Refuses an operator-only option if the command runs on a remote server. */
export function requireHost({ server }: { server: unknown }, option: string): void {
  const message = `The option ${option} works only on the host of the daemon.`;
  if (server !== null) throw onlyOnHost(`On a remote server, leave out ${option}.`, message);
}
