import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from './places.ts';

const brought = /^\s*(?:Load|Set|Import)Credential(?:Encrypted)?\s*=\s*([^\s:]+)/gm;

/**
 * The credentials that the unit `idctl.service` and its drop-ins bring, by name: systemd shows them to the daemon alone.
 * None where there is no such unit, or for whom it shows them to.
 */
export async function unitCredentials(env: Environment): Promise<string[]> {
  if (env['CREDENTIALS_DIRECTORY']) return [];
  const folder = unitFolder(env);
  const dropIns = join(folder, 'idctl.service.d');
  const names = await readdir(dropIns).catch(() => []);
  const files = [join(folder, 'idctl.service'), ...names.map((name) => join(dropIns, name))];
  // What cannot be read is no reason to refuse a configuration.
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  return texts.flatMap((text) => [...text.matchAll(brought)].map(([, name = '']) => name));
}

/** Whether systemd runs the daemon here: it has the unit `idctl.service`. */
export function hasUnit(env: Environment): boolean {
  return existsSync(join(unitFolder(env), 'idctl.service'));
}

function unitFolder(env: Environment): string {
  // As systemd itself looks for units elsewhere (systemd.unit(5)).
  return env['SYSTEMD_UNIT_PATH']?.split(':')[0] || '/etc/systemd/system';
}
