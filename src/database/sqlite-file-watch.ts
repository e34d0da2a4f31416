import { realpathSync, statSync } from 'node:fs';

/** Detects whether the files of an open database were moved, deleted or replaced. */
export interface FileWatch {
  /** Remembers the files, or compares them with the remembered ones. Call it after opening. */
  taken(): void;
  /** Throws if a file was moved, deleted or replaced since `taken`. */
  check(): void;
}

// Checking costs a few microseconds. Reads skip it for this many milliseconds after a check.
const freshFor = 50;

/**
 * Watches the file, its -wal and its -shm by device and inode. An open file keeps working after it
 * was moved or deleted, and accepts writes that no later process finds.
 */
export function watchFile(file: string): FileWatch {
  let paths: string[] = [];
  let first: string[] | undefined;
  const check = () => {
    const at = paths.findIndex((path, index) => identityOf(path) !== first?.[index]);
    const path = paths[at];
    if (path !== undefined) throw new Misplaced(path);
  };
  return {
    taken() {
      if (first !== undefined) return check();
      // If the file is a symbolic link, SQLite puts -wal and -shm beside its target.
      const target = realpathSync(file);
      paths = [file, `${target}-wal`, `${target}-shm`];
      first = paths.map(identityOf);
    },
    check,
  };
}

/** Returns a check for reads. It compares the files at most once in 50 milliseconds. */
export function checkSeldom(watch: FileWatch): () => void {
  let checkedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - checkedAt < freshFor) return;
    watch.check();
    checkedAt = performance.now();
  };
}

class Misplaced extends Error {
  override name = 'Misplaced';
  readonly code = 'IDCTL_MISPLACED';

  constructor(path: string) {
    super(`${path} was moved, deleted or replaced`);
  }
}

function identityOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? 'missing' : `${found.dev}:${found.ino}`;
}
