import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { run } from './tree.ts';

/** The options of `writeTar`. */
interface Form {
  /** Seconds since 1970: the time of each file. */
  epoch: number;
  /** The folder in the archive that takes the place of `folder`. */
  prefix?: string;
  /** The number of the user and the group that own each file; root by default. */
  owner?: number;
  mode?: string;
  /** The paths to write; everything by default. */
  paths?: string[];
}

/**
 * Writes a tar archive of a folder's content. The same content gives the same bytes: names are
 * sorted, and owners, modes and times are set.
 */
export function writeTar(
  folder: string,
  file: string,
  { epoch, prefix = '.', owner = 0, mode = 'u+rwX,go+rX,go-w', paths = ['.'] }: Form,
): void {
  const output = openSync(file, 'w');
  const words = [
    '--create',
    '--sort=name',
    '--format=gnu',
    `--mtime=@${epoch}`,
    `--owner=${owner}`,
    `--group=${owner}`,
    '--numeric-owner',
    `--mode=${mode}`,
    `--transform=flags=rSH;s,^\\.,${prefix},`,
    ...paths,
  ];
  const { status, stderr } = spawnSync('tar', words, {
    cwd: folder,
    stdio: ['ignore', output, 'pipe'],
  });
  closeSync(output);
  if (status !== 0) throw new Error(`tar failed: ${stderr}`);
}

/** Compresses a file to `FILE.gz`, which records neither its name nor its time. */
export function gzip(file: string, level: '--best' | '-6' = '-6'): string {
  const { status, stderr } = spawnSync('gzip', ['--no-name', level, '--force', file]);
  if (status !== 0) throw new Error(`gzip failed: ${stderr}`);
  return `${file}.gz`;
}

/** The SHA-256 of a file, in hex. */
export function digestOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** The bytes of the files in a folder. Folders count nothing: their size depends on the disk. */
export function bytesIn(folder: string): number {
  const sizes = run(folder, 'find', '.', '!', '-type', 'd', '-printf', '%s\n');
  return sizes.split('\n').reduce((sum, size) => sum + Number(size), 0);
}
