import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';

/** Whose name stands in the events that this command writes. */
export function operatorName(): string {
  const invoker = process.env['SUDO_USER'];
  if (invoker) return invoker;
  try {
    return userInfo().username;
  } catch {
    // Containers run under numbers that have no name.
    return `uid ${process.getuid?.() ?? '?'}`;
  }
}

/**
 * Root becomes the owner of the SQLite file, or of the folder it will stand in, before opening it:
 * what root writes, the daemon must be able to read (security X8).
 */
export function becomeOwner(databaseUrl: string): void {
  const file = /^sqlite:(.+)$/.exec(databaseUrl)?.[1];
  if (file === undefined || process.getuid?.() !== 0) return;
  const { uid, gid } = nearest(file);
  if (uid === 0) return;
  process.setgroups?.([gid]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

/** The owner of the path, or of the nearest folder above it that is there. */
function nearest(path: string): { uid: number; gid: number } {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ?? nearest(dirname(path));
}
