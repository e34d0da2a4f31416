import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

// Whatever is written on the way holds the whole database: it goes when the work is over, however that ends.

const lying = new Set<string>();

/** Remembers what is to go if the process is told to end. */
export function unfinished(path: string): void {
  lying.add(path);
}

/** Forgets it again. */
export function finished(path: string): void {
  lying.delete(path);
}

/** Removes at once what unfinished work has lying about: for a process that is told to end. */
export function removeUnfinished(): void {
  for (const path of lying) rmSync(path, { recursive: true, force: true });
}

/** Does the work with a folder of its own, which is gone afterwards. */
export async function inFolder<T>(
  beside: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(beside, '.idctl-'));
  unfinished(folder);
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
    finished(folder);
  }
}
