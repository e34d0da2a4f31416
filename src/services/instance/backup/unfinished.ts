import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { lstat, mkdir, readdir, rm, rmdir, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isOtherRunning } from '../../../host/running.ts';

// Temporary files contain the whole database, so they are removed however the work ends.

const lying = new Set<string>();

/** Marks a path for removal in case a signal ends the process. */
export function unfinished(path: string): void {
  lying.add(path);
}

/** Removes the mark from a path. */
export function finished(path: string): void {
  lying.delete(path);
}

/** Removes all marked paths. Call it when a signal ends the process. */
export function removeUnfinished(): void {
  for (const path of lying) rmSync(path, { recursive: true, force: true });
}

/** Does the work with a temporary folder in `beside`, and then removes the folder. */
export async function inFolder<T>(beside: string, work: (folder: string) => Promise<T>) {
  await removeAbandoned(beside);
  const name = `.idctl-${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
  const folder = join(beside, name);
  unfinished(folder);
  const release = removeWhenKilled(folder);
  try {
    await mkdir(folder, { mode: 0o700 });
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
    finished(folder);
    release();
  }
}

/**
 * Starts a process that removes the folder when this process ends, even by SIGKILL: then its
 * standard input ends. Returns a function that ends it early.
 */
function removeWhenKilled(folder: string): () => void {
  const watcher = spawn('/bin/sh', ['-c', 'cat; exec rm -rf -- "$1"', 'idctl', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Without the watcher, the next backup to this place removes the folder.
  watcher.on('error', () => {});
  watcher.unref();
  return () => watcher.stdin.destroy();
}

/** The only files that a temporary folder of idctl may contain. */
const held = /^(?:backup|database|dump|list)(?:-wal|-shm|-journal)?$/;

/**
 * Removes folders that killed processes on this machine left. Other users can create folders with
 * such names in `/tmp`. So a folder must belong to this user, and contain only known files.
 */
async function removeAbandoned(beside: string): Promise<void> {
  for (const name of await readdir(beside)) {
    const [, host, pid] = /^\.idctl-(.+)-(\d+)-\w{6}$/.exec(name) ?? [];
    if (host !== hostname() || isOtherRunning(Number(pid))) continue;
    // A folder that cannot be removed must not stop the work.
    await removeOwn(join(beside, name)).catch(() => {});
  }
}

async function removeOwn(path: string): Promise<void> {
  const found = await lstat(path);
  if (!found.isDirectory() || found.uid !== process.geteuid?.()) return;
  const files = await readdir(path);
  if (!files.every((file) => held.test(file))) return;
  for (const file of files) await unlink(join(path, file));
  await rmdir(path);
}
