import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, watch, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { main, surroundings } from '../support/daemon.ts';
import { dialect } from '../support/database.ts';
import { type Installation, install } from '../support/installation.ts';

// A killed process leaves a half-written file. idctl ignores the file, and the next run removes it.

let site: Installation;
beforeEach(async () => {
  site = await install();
  onTestFinished(() => site.close());
});

/**
 * Starts a command, and kills it as soon as it writes a file of its own into this folder. Returns
 * its process id.
 */
async function killWhileWriting(words: string[], folder: string, more = {}) {
  const { database, keyFile } = site;
  const settings = { IDCTL_DATABASE: database, IDCTL_KEY_FILE: keyFile };
  const watcher = watch(folder);
  const env = { ...surroundings(), ...settings, ...more };
  const child = spawn(process.execPath, [main, ...words], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  watcher.on('change', (_, name) => {
    const own = String(name).includes(`-${child.pid}-`) || /^\.idctl-\w{6}$/.test(String(name));
    if (own) child.kill('SIGKILL');
  });
  await once(child, 'exit');
  watcher.close();
  return child.pid;
}

test.each(['-', 'idctl.backup'])(
  'a killed backup to %s does not leave a copy, and the next backup removes what a power cut left',
  async (to) => {
    const folder = join(site.folder, 'temporary');
    mkdirSync(folder);
    const here = { TMPDIR: folder };
    const pid = await killWhileWriting(
      ['backup', to === '-' ? to : join(folder, to)],
      folder,
      here,
    );
    await expect.poll(() => readdirSync(folder)).toEqual([]);
    // The folder of a backup that is still running stays.
    const named = (owner: number | undefined) => `.idctl-${hostname()}-${owner}-abc123`;
    mkdirSync(join(folder, named(pid)));
    mkdirSync(join(folder, named(process.pid)));
    writeFileSync(join(folder, named(pid), 'database'), 'half a copy');
    expect((await site.run(['backup', join(folder, 'whole')], '', here)).code).toBe(0);
    expect(readdirSync(folder).sort()).toEqual([named(process.pid), 'whole']);
  },
);

test.skipIf(dialect !== 'sqlite')(
  'the half copy of a killed migration does not count as a copy, and the next migration removes it',
  async () => {
    const file = site.database.slice('sqlite:'.length);
    const folder = dirname(file);
    const database = new DatabaseSync(file);
    // The database is so large that the kill comes during the copy.
    database.exec(`
      DELETE FROM migrations WHERE name = '0018-suspensions';
      ALTER TABLE access_tokens DROP COLUMN suspended_at;
      ALTER TABLE apps DROP COLUMN suspended_at;
      ALTER TABLE scim_tokens DROP COLUMN suspended_at;
      CREATE TABLE filler (content BLOB);
      INSERT INTO filler VALUES (zeroblob(40000000))`);
    database.close();
    const copies = () =>
      readdirSync(folder).filter((name) => !/^idctl\.db(-wal|-shm)?$/.test(name));
    // An earlier idctl gave half copies such a name.
    writeFileSync(`${file}.before-999999999-20260101T000000Z`, 'half a copy');
    await killWhileWriting(['migrate'], folder);
    const left = copies();
    expect(left.length).toBe(1);
    expect(left.filter((name) => /\.before-\d{4}-/.test(name))).toEqual([]);
    expect((await site.run(['migrate'])).code).toBe(0);
    expect(copies()).toEqual([
      expect.stringMatching(/^idctl\.db\.before-0018-suspensions-\d{8}T\d{6}Z$/),
    ]);
  },
);
