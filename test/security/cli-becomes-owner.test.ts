import { execFile } from 'node:child_process';
import { chmod, chown, copyFile, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rootMissing } from '../support/counterpart.ts';
import { main } from '../support/daemon.ts';
import { dialect } from '../support/database.ts';
import { startPostgres } from '../support/postgres.ts';

const nobody = 65_534;

describe.skipIf(dialect !== 'sqlite' || rootMissing())('X8: run as root, the command line', () => {
  let folder: string;
  let site: string;
  const idctl = (words: string[], more: Record<string, string> = {}) => {
    const env = { PATH: process.env['PATH'], IDCTL_CONFIG: join(site, 'idctl.yaml'), ...more };
    return promisify(execFile)(process.execPath, [main, ...words], { env });
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'idctl-owner-'));
    await chown(folder, nobody, nobody);
    site = join(folder, 'site');
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("gives new files to the folder's owner, and no other user can read them", async () => {
    await idctl(['init', '--yes']);
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

  it("switches to the database's owner before it opens the database, and gives up root's rights", async () => {
    const key = join(site, 'master.key');
    await chown(key, 0, 0);
    await expect(idctl(['org', 'list'])).rejects.toMatchObject({ code: 3 });
    await chown(key, nobody, nobody);
    await idctl(['org', 'create', 'Acme']);
    for (const name of await readdir(site)) expect((await stat(join(site, name))).uid).toBe(nobody);
  });

  it('makes a backup as the owner, and restores a backup that only root can read', async () => {
    const own = join(site, 'idctl.backup');
    await idctl(['backup', own]);
    expect(await stat(own)).toMatchObject({ uid: nobody });
    const roots = join(folder, 'root.backup');
    await copyFile(own, roots);
    await chmod(roots, 0o600);
    for (const name of await readdir(site))
      if (name.startsWith('idctl.db')) await rm(join(site, name));
    await idctl(['restore', roots]);
    const { uid, mode } = await stat(join(site, 'idctl.db'));
    expect({ uid, mode: mode & 0o777 }).toEqual({ uid: nobody, mode: 0o600 });
    expect((await idctl(['org', 'list'])).stdout).toContain('acme');
  });

  it('gives the target of a move to the owner, and reads the target’s URL from a file that only root can read', async () => {
    const [to, file] = [join(site, 'moved.db'), join(folder, 'to')];
    await writeFile(file, `sqlite:${to}`, { mode: 0o600 });
    await idctl(['database', 'move', '--to-file', file]);
    const { uid, mode } = await stat(to);
    expect({ uid, mode: mode & 0o777 }).toEqual({ uid: nobody, mode: 0o600 });
  });

  it('X8 gives the new folders of a move to the owner of the SQLite file, or on PostgreSQL to the owner of the key file', async () => {
    // Only root can write to this folder.
    const roots = await mkdtemp(join(tmpdir(), 'idctl-roots-'));
    await chmod(roots, 0o755);
    const server = await startPostgres();
    const move = (from: string, to: string) =>
      idctl(['database', 'move', '--to-file', to], { IDCTL_DATABASE: from });
    try {
      const [first, second] = [join(roots, 'one/new/a.db'), join(roots, 'two/new/b.db')];
      const urls = [`sqlite:${join(site, 'moved.db')}`, `sqlite:${first}`, server.url];
      for (const [at, to] of [`sqlite:${first}`, server.url, `sqlite:${second}`].entries()) {
        const file = join(folder, `to-${at}`);
        await writeFile(file, to, { mode: 0o600 });
        await move(urls[at] ?? '', file);
      }
      for (const file of [first, second]) {
        for (const path of [file, dirname(file), dirname(dirname(file))])
          expect([path, (await stat(path)).uid]).toEqual([path, nobody]);
      }
      expect((await stat(roots)).uid).toBe(0);
    } finally {
      await server.stop();
      await rm(roots, { recursive: true, force: true });
    }
  }, 60_000);
});
