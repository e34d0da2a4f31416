import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../../src/host/file-fault.ts';

/** A disk of a few MiB that a test can fill. Requires root. */
export interface SmallDisk {
  folder: string;
  /** Fills the free space. */
  fill(): void;
  /** Frees the space. */
  empty(): void;
  unmount(): void;
}

/** Mounts a disk of this size at this folder, by default at a new one. */
export function mountSmallDisk(
  mebibytes: number,
  folder = mkdtempSync(join(tmpdir(), 'idctl-disk-')),
): SmallDisk {
  const size = `size=${mebibytes}m,mode=0755`;
  execFileSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', folder]);
  const filler = join(folder, 'filler');
  return {
    folder,
    fill() {
      const { bavail, bsize } = statfsSync(folder);
      try {
        writeFileSync(filler, Buffer.alloc(bavail * bsize));
      } catch (error) {
        // Another process has taken some of the space since then.
        if (codeOf(error) !== 'ENOSPC') throw error;
      }
    },
    empty: () => rmSync(filler),
    unmount() {
      execFileSync('/usr/bin/umount', ['--lazy', folder]);
      rmdirSync(folder);
    },
  };
}
