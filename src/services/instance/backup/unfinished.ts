import { rmSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isOtherRunning } from '../../../running.ts';

// Every temporary file holds the whole database, so it is removed however the work ends.

const lying = new Set<string>();

/** Marks a path for removal if the process is told to end. */
export function unfinished(path: string): void {
  lying.add(path);
}

/** Removes the mark. */
export function finished(path: string): void {
  lying.delete(path);
}

/** Removes all marked paths at once, for a process that is told to end. */
export function removeUnfinished(): void {
  for (const path of lying) rmSync(path, { recursive: true, force: true });
}

/** Does the work with a temporary folder, and removes it afterwards. */
export async function inFolder<T>(beside: string, work: (folder: string) => Promise<T>) {
  await removeAbandoned(beside);
  const folder = await mkdtemp(join(beside, `.idctl-${hostname()}-${process.pid}-`));
  unfinished(folder);
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
    finished(folder);
  }
}

const day = 86_400_000;

/**
 * Removes the folders that killed processes have left: of this machine at once, of others or of an
 * earlier idctl after a day.
 */
async function removeAbandoned(beside: string): Promise<void> {
  for (const name of await readdir(beside)) {
    const match = /^\.idctl-(?:(.+)-(\d+)-)?\w{6}$/.exec(name);
    if (match === null) continue;
    const [, host, pid] = match;
    const path = join(beside, name);
    const found = await stat(path).catch(() => null);
    if (found === null || found.uid !== process.geteuid?.()) continue;
    const isLeft = host === hostname() && !isOtherRunning(Number(pid));
    if (isLeft || found.mtimeMs < Date.now() - day)
      await rm(path, { recursive: true, force: true });
  }
}
