import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createToken } from '../../../src/services/people/tokens/operations.ts';
import type { Daemon } from '../../support/daemon.ts';
import { dialect } from '../../support/database.ts';
import { createClient } from '../../support/http.ts';
import { type Installation, install } from '../../support/installation.ts';

// A write that is acknowledged must be in the file that the next process opens.

describe.skipIf(dialect !== 'sqlite')('the database file of a running daemon', () => {
  let site: Installation;
  let daemon: Daemon;
  let file: string;
  let authorization: string;

  beforeEach(async () => {
    let token = '';
    site = await install({
      prepare: async (operator) => {
        ({ token } = await createToken(operator(), {
          user: 'olga@acme.test',
          name: 'ci',
          scope: 'admin',
        }));
      },
    });
    onTestFinished(() => site.close());
    authorization = `Bearer ${token}`;
    file = site.database.slice('sqlite:'.length);
    daemon = await site.serve();
    expect(await write('before')).toBe(201);
  });

  const write = async (slug: string) => {
    const body = { name: slug, slug };
    const path = '/api/v1/orgs/acme/projects';
    return (await createClient(daemon.url).post(path, body, { authorization })).status;
  };
  const askedFor = async (path: string) => {
    const { status, body } = await createClient(daemon.url).get(path, { authorization });
    return [status, body.code];
  };
  const away = (name: string) => {
    mkdirSync(join(dirname(file), 'away'), { recursive: true });
    return join(dirname(file), 'away', name);
  };

  const faults: Record<string, () => void> = {
    'is deleted': () => rmSync(file),
    'is deleted with its log': () => {
      for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`);
    },
    'is moved': () => {
      for (const end of ['', '-wal', '-shm']) renameSync(`${file}${end}`, away(`moved.db${end}`));
    },
    'loses its log': () => rmSync(`${file}-wal`),
    'loses the index of its log': () => rmSync(`${file}-shm`),
    'is replaced': () => {
      copyFileSync(file, away('copy'));
      renameSync(away('copy'), file);
    },
  };

  test.each(Object.entries(faults))(
    'if the file %s, requests that need it get 503, and the log says why',
    async (_, fault) => {
      fault();
      expect(await write('lost')).toBe(503);
      await expect.poll(() => askedFor('/readyz')).toEqual([503, 'database_unreachable']);
      expect(await askedFor('/api/v1/me')).toEqual([503, 'database_unreachable']);
      expect(await askedFor('/healthz')).toEqual([200, undefined]);
      expect(await daemon.stop()).toBe(0);
      expect(daemon.log()).toMatch(/idctl\.db(-wal|-shm)? was moved, deleted or replaced/);
    },
  );

  test('if the file is moved and put back, it is used again, with every acknowledged write', async () => {
    faults['is moved']?.();
    expect(await write('lost')).toBe(503);
    for (const end of ['', '-wal', '-shm']) renameSync(away(`moved.db${end}`), `${file}${end}`);
    await expect.poll(() => askedFor('/readyz')).toEqual([200, undefined]);
    expect(await write('after')).toBe(201);
    expect(await daemon.stop()).toBe(0);
    const rows = await site.query('SELECT slug FROM projects ORDER BY slug');
    expect(rows).toEqual([{ slug: 'after' }, { slug: 'before' }]);
  });

  test('if the file is reached by a link, the daemon watches the target of the link', async () => {
    expect(await daemon.stop()).toBe(0);
    symlinkSync(file, away('link.db'));
    daemon = await site.serve({ IDCTL_DATABASE: `sqlite:${away('link.db')}` });
    expect(await write('through-the-link')).toBe(201);
    faults['loses its log']?.();
    expect(await write('lost')).toBe(503);
  });

  test('if the file loses its log, stopping the daemon keeps every acknowledged write', async () => {
    faults['loses its log']?.();
    expect(await daemon.stop()).toBe(0);
    const rows = await site.query('SELECT slug FROM projects ORDER BY slug');
    expect(rows).toEqual([{ slug: 'before' }]);
  });

  test('if the file is missing, serve refuses to start and does not create it', async () => {
    expect(await daemon.stop()).toBe(0);
    rmSync(file);
    const refused = await site.run(['serve', '--listen', '127.0.0.1:0']);
    expect(refused.code).toBe(3);
    expect(refused.err).toContain(`There is no database at ${file}.`);
    expect(refused.err).toContain('restore a backup');
    expect([existsSync(file), readdirSync(dirname(file))]).toEqual([false, []]);
  });
});
