import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from './places.ts';

const brought = /^\s*(?:Load|Set|Import)Credential(?:Encrypted)?\s*=\s*([^\s:]+)/gm;

/**
 * The names of the credentials in the unit `idctl.service` and its drop-ins, below
 * `/etc/systemd/system`. systemd gives their values only to the daemon. Empty if there are none, or
 * if this process has credentials of its own.
 */
export async function unitCredentials(env: Environment): Promise<string[]> {
  if (env['CREDENTIALS_DIRECTORY']) return [];
  const folder = unitFolder(env);
  const dropIns = join(folder, 'idctl.service.d');
  const names = await readdir(dropIns).catch(() => []);
  const files = [join(folder, 'idctl.service'), ...names.map((name) => join(dropIns, name))];
  // An unreadable file must not make the configuration fail.
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  return texts.flatMap((text) => [...text.matchAll(brought)].map(([, name = '']) => name));
}

/** Whether `/etc/systemd/system` has a unit `idctl.service`, so that systemd runs the daemon. */
export function hasUnit(env: Environment): boolean {
  return existsSync(join(unitFolder(env), 'idctl.service'));
}

function unitFolder(env: Environment): string {
  // systemd itself reads this variable for unit folders (systemd.unit(5)).
  return env['SYSTEMD_UNIT_PATH']?.split(':')[0] || '/etc/systemd/system';
}
