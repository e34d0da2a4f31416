import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk of a few MiB that can be filled. Needs root. */
export interface SmallDisk {
  folder: string;
  /** Leaves no space. */
  fill(): void;
  /** Makes the space free again. */
  empty(): void;
  unmount(): void;
}

/** Mounts a disk of this size at a folder of its own. */
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
