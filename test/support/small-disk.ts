import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk of a few MiB that a test can fill. Requires root. */
export interface SmallDisk {
  folder: string;
  /** Fills the free space. */
  fill(): void;
  /** Frees the space. */
  empty(): void;
  unmount(): void;
}

/** Mounts a disk of this size at a new folder. */
export function mountSmallDisk(mebibytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'idctl-disk-'));
  const size = `size=${mebibytes}m,mode=0755`;
  execFileSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', folder]);
  const filler = join(folder, 'filler');
  return {
    folder,
    fill() {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(filler, Buffer.alloc(bavail * bsize));
    },
    empty: () => rmSync(filler),
    unmount() {
      execFileSync('/usr/bin/umount', ['--lazy', folder]);
      rmdirSync(folder);
    },
  };
}
