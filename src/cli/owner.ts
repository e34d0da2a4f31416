import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { chown, mkdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';

interface Owner {
  uid: number;
  gid: number;
}

/** The operator's name in the events that this command writes. */
export function operatorName(): string {
  const invoker = process.env['SUDO_USER'];
  if (invoker) return invoker;
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that has no name.
    return `uid ${process.getuid?.() ?? '?'}`;
  }
}

/** The file of an embedded database; null for a server. */
export function databaseFile(url: string): string | null {
  return /^sqlite:(.+)$/.exec(url)?.[1] ?? null;
}

/**
 * Switches root permanently to the owner of the file, or of the folder that will hold it. The
 * daemon must be able to read what root writes there (security X8).
 */
export function becomeOwnerOf(file: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = nearestOwner(file);
  if (uid === 0) return;
  process.setgroups?.([gid]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

/**
 * Makes the folder if it is missing. Root gives it to `owner`; without `owner`, a new folder gets
 * the owner of the folder above.
 */
export async function makeFolder(path: string, owner: Owner | null): Promise<void> {
  const inherited = nearestOwner(path);
  const made = await mkdir(path, { recursive: true, mode: 0o700 });
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = owner ?? inherited;
  if (owner !== null || made !== undefined) await chown(path, uid, gid);
}

/** The user of this name, if the system has it. */
export function findUser(name: string): Owner | null {
  const ask = (what: string): number =>
    Number(execFileSync('id', [what, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
  try {
    return { uid: ask('-u'), gid: ask('-g') };
  } catch {
    return null;
  }
}

/** The owner of the path, or of the nearest folder above it that exists. */
function nearestOwner(path: string): Owner {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ?? nearestOwner(dirname(path));
}
