import { execFile } from 'node:child_process';
import { chmod, chown, copyFile, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rootMissing } from '../support/counterpart.ts';
import { main } from '../support/daemon.ts';
import { dialect } from '../support/database.ts';

const nobody = 65_534;

describe.skipIf(dialect !== 'sqlite' || rootMissing())('X8: run as root, the command line', () => {
  let folder: string;
  let site: string;
  const idctl = (...words: string[]) => {
    const env = { PATH: process.env['PATH'], IDCTL_CONFIG: join(site, 'idctl.yaml') };
    return promisify(execFile)(process.execPath, [main, ...words], { env });
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'idctl-owner-'));
    await chown(folder, nobody, nobody);
    site = join(folder, 'site');
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("gives new files to the folder's owner, closed to other users", async () => {
    await idctl('init', '--yes');
    expect((await readdir(site)).sort()).toEqual(['idctl.db', 'idctl.yaml', 'master.key']);
    for (const name of await readdir(site)) {
      const { uid, gid, mode } = await stat(join(site, name));
      expect({ name, uid, gid, mode: mode & 0o777 }).toEqual({
        name,
        uid: nobody,
        gid: nobody,
        mode: 0o600,
      });
    }
    const { uid, mode } = await stat(site);
    expect({ uid, mode: mode & 0o777 }).toEqual({ uid: nobody, mode: 0o700 });
  });

  it("becomes the database's owner before it opens the database, and is no longer root", async () => {
    const key = join(site, 'master.key');
    await chown(key, 0, 0);
    await expect(idctl('org', 'list')).rejects.toMatchObject({ code: 3 });
    await chown(key, nobody, nobody);
    await idctl('org', 'create', 'Acme');
    for (const name of await readdir(site)) expect((await stat(join(site, name))).uid).toBe(nobody);
  });

  it('makes a backup as that owner, and restores one that only root can read', async () => {
    const own = join(site, 'idctl.backup');
    await idctl('backup', own);
    expect(await stat(own)).toMatchObject({ uid: nobody });
    const roots = join(folder, 'root.backup');
    await copyFile(own, roots);
    await chmod(roots, 0o600);
    for (const name of await readdir(site))
      if (name.startsWith('idctl.db')) await rm(join(site, name));
    await idctl('restore', roots);
    const { uid, mode } = await stat(join(site, 'idctl.db'));
    expect({ uid, mode: mode & 0o777 }).toEqual({ uid: nobody, mode: 0o600 });
    expect((await idctl('org', 'list')).stdout).toContain('acme');
  });

  it('moves to a database of that owner, by a URL that root alone may read', async () => {
    const [to, file] = [join(site, 'moved.db'), join(folder, 'to')];
    await writeFile(file, `sqlite:${to}`, { mode: 0o600 });
    await idctl('database', 'move', '--to-file', file);
    const { uid, mode } = await stat(to);
    expect({ uid, mode: mode & 0o777 }).toEqual({ uid: nobody, mode: 0o600 });
  });
});
