import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { rootMissing } from '../support/counterpart.ts';
import { main } from '../support/daemon.ts';
import { dialect } from '../support/database.ts';
import { install } from '../support/installation.ts';
import { moveTo } from '../support/move.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

// A place where nothing can be written is refused in words, and the command ends.

const nobody = 65_534;

test.skipIf(dialect !== 'sqlite')(
  'a move or init to a folder that cannot be created is refused, and names the folder and the reason',
  async () => {
    const site = await install();
    onTestFinished(() => site.close());
    const file = join(site.folder, 'file');
    writeFileSync(file, '');
    for (const [folder, reason] of [
      ['/proc/idctl', '/proc cannot contain folders'],
      ['/proc/idctl/deeper', '/proc cannot contain folders'],
      [join(file, 'deeper'), `${file} cannot contain folders`],
    ] as const) {
      const refusal = expect.stringMatching(`The folder .* cannot be created: ${reason}\\.`);
      const moved = await moveTo(site, `sqlite:${folder}/idctl.db`);
      expect([moved.code, moved.err]).toEqual([1, refusal]);
      const made = await site.run(['init', '--yes', '--config', join(folder, 'idctl.yaml')]);
      expect([made.code, made.err]).toEqual([1, refusal]);
    }
    expect((await site.run(['org', 'list'])).code).toBe(0);
  },
);

describe.skipIf(rootMissing())('with a user or a disk that only root can give', () => {
  test.skipIf(dialect !== 'sqlite')(
    'an ordinary user who may not create the folder is told which user may not write where',
    async () => {
      const closed = mkdtempSync(join(tmpdir(), 'idctl-closed-'));
      onTestFinished(() => rmSync(closed, { recursive: true }));
      chmodSync(closed, 0o755);
      const place = join(closed, 'deeper', 'idctl.yaml');
      const env = { PATH: process.env['PATH'], HOME: closed };
      const init = promisify(execFile)(
        process.execPath,
        [main, 'init', '--yes', '--config', place],
        {
          uid: nobody,
          gid: nobody,
          cwd: '/',
          env,
        },
      );
      await expect(init).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`${closed} may not be written by the user nobody.`),
      });
    },
  );

  test.skipIf(dialect !== 'sqlite')(
    'a move whose new database does not find space names the new database, and changes nothing',
    async () => {
      const site = await install();
      onTestFinished(() => site.close());
      const disk = mountSmallDisk(4);
      onTestFinished(() => disk.unmount());
      disk.fill();
      const { code, err } = await moveTo(site, `sqlite:${disk.folder}/idctl.db`);
      expect([code, err]).toEqual([
        3,
        expect.stringContaining(
          `There is no space left for the new database sqlite:${disk.folder}/idctl.db.`,
        ),
      ]);
      expect((await site.run(['org', 'list'])).code).toBe(0);
      disk.empty();
      expect((await moveTo(site, `sqlite:${disk.folder}/idctl.db`)).code).toBe(0);
    },
  );
});
