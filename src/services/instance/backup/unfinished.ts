import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

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
  const folder = await mkdtemp(join(beside, '.idctl-'));
  unfinished(folder);
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
    finished(folder);
  }
}
