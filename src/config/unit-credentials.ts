import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from './paths.ts';

const brought = /^\s*(?:Load|Set|Import)Credential(?:Encrypted)?\s*=\s*([^\s:]+)/gm;

/**
 * The names of the credentials in the unit `idctl.service` and its drop-ins. systemd gives their
 * values only to the daemon. Empty if there are none, or if this process has its own credentials.
 */
export async function unitCredentials(env: Environment): Promise<string[]> {
  if (env['CREDENTIALS_DIRECTORY']) return [];
  const unit = findUnit(env);
  const files = unit === undefined ? [] : [unit];
  for (const folder of unitFolders(env)) {
    const dropIns = join(folder, 'idctl.service.d');
    const names = await readdir(dropIns).catch(() => []);
    files.push(...names.map((name) => join(dropIns, name)));
  }
  // An unreadable file must not make the configuration fail.
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  return texts.flatMap((text) => [...text.matchAll(brought)].map(([, name = '']) => name));
}

/** Whether there is a unit `idctl.service`, so that systemd runs the daemon. */
export function hasUnit(env: Environment): boolean {
  return findUnit(env) !== undefined;
}

/** The start of a sentence about a restart. Names the command if systemd runs the daemon. */
export function restartDaemon(env: Environment): string {
  return `Restart the daemon${hasUnit(env) ? ' (systemctl restart idctl)' : ''}`;
}

function findUnit(env: Environment): string | undefined {
  const units = unitFolders(env).map((folder) => join(folder, 'idctl.service'));
  return units.find((unit) => existsSync(unit));
}

/** The folders of units. An administrator's units take precedence over those of a package. */
const usual = ['/etc/systemd/system', '/usr/lib/systemd/system', '/lib/systemd/system'];

function unitFolders(env: Environment): string[] {
  // systemd itself reads this variable (systemd.unit(5)).
  const given = env['SYSTEMD_UNIT_PATH']?.split(':').filter((folder) => folder !== '') ?? [];
  return given.length === 0 ? usual : given;
}
