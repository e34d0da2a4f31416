import { realpathSync, statSync } from 'node:fs';

/** Watches that the files of an open database stay in their place. */
export interface Place {
  /** Remembers the files, or compares them with those of an earlier connection. Call once open. */
  taken(): void;
  /** Throws if one of the files was moved, deleted or replaced since. */
  check(): void;
}

// A stat of the files costs a few microseconds. Reads may see files this many milliseconds old.
const freshFor = 50;

/**
 * An open file goes on working after it was moved or deleted, and takes writes that no later
 * process finds. So the file, its log and the index of that are compared by device and inode.
 */
export function watchPlace(file: string): Place {
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
      // SQLite puts the others beside the file that a link leads to.
      const target = realpathSync(file);
      paths = [file, `${target}-wal`, `${target}-shm`];
      first = paths.map(identityOf);
    },
    check,
  };
}

/** The same check for reads, at most once in 50 milliseconds. */
export function checkSeldom(place: Place): () => void {
  let checkedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - checkedAt < freshFor) return;
    place.check();
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
