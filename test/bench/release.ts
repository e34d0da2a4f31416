import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** A release as it is installed, with its own instance on SQLite. */
export interface Release {
  idctl: string;
  env: Record<string, string>;
  remove(): Promise<void>;
}

/** Builds a release below the checkout, where Node finds its packages. */
export async function buildRelease(): Promise<Release> {
  await mkdir(join(root, '.tmp'), { recursive: true });
  const folder = await mkdtemp(join(root, '.tmp/bench-'));
  execFileSync(process.execPath, [join(root, 'scripts/build.ts'), folder]);
  await mkdir(join(folder, 'node_modules/.bin'), { recursive: true });
  await symlink(process.execPath, join(folder, 'node_modules/.bin/node'));
  const idctl = join(folder, 'bin/idctl');
  const env = { PATH: process.env['PATH'] ?? '', IDCTL_CONFIG: join(folder, 'idctl.yaml') };
  execFileSync(idctl, ['init', '--yes'], { env, stdio: 'ignore' });
  return { idctl, env, remove: () => rm(folder, { recursive: true, force: true }) };
}
