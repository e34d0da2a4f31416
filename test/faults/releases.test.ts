import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { type Daemon, startDaemon, surroundings } from '../support/daemon.ts';
import { dialect } from '../support/database.ts';
import { createClient } from '../support/http.ts';
import { baseUrl, type Installation, install } from '../support/installation.ts';
import { writeNewerRelease } from '../support/newer-release.ts';

// A slow machine needs this long. No test depends on speed.
vi.setConfig({ testTimeout: 240_000 });

let site: Installation;
let newer: readonly string[];
beforeEach(async () => {
  site = await install();
  onTestFinished(() => site.close());
  newer = writeNewerRelease(site.folder);
});

const settings = () => ({ IDCTL_DATABASE: site.database, IDCTL_KEY_FILE: site.keyFile });

async function serveNewer(): Promise<Daemon> {
  const { database, keyFile } = site;
  const env = { IDCTL_BASE_URL: baseUrl };
  const daemon = await startDaemon({ database, keyFile, env, program: newer, keepLog: true });
  onTestFinished(async () => void (await daemon.stop()));
  return daemon;
}

async function migrateNewer(...more: string[]): Promise<{ code: number; stderr: string }> {
  const [file = '', ...words] = [...newer, 'migrate', ...more];
  return promisify(execFile)(file, words, { env: { ...surroundings(), ...settings() } }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }) => ({ code, stderr }),
  );
}

const signIn = ({ url }: Daemon) => createClient(url).post('/api/v1/auth/login', site.owner);

function copies(): string[] {
  const file = /^sqlite:(.*)/.exec(site.database)?.[1];
  return file === undefined
    ? []
    : readdirSync(dirname(file)).filter((name) => /\.(before|copying)-/.test(name));
}

test('while a daemon of an older release runs, a newer idctl applies no migration and says what to do', async () => {
  const older = await site.serve();
  const refused = await migrateNewer();
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain('another release of idctl is using it');
  expect(refused.stderr).toContain('Stop the daemons and commands of the other release');
  expect(refused.stderr).toContain('idctl migrate --yes');
  await expect(serveNewer()).rejects.toThrow('another release of idctl is using it');
  expect(copies()).toEqual([]);
  expect((await signIn(older)).status).toBe(200);
  expect(await older.stop()).toBe(0);
  expect((await signIn(await serveNewer())).status).toBe(200);
});

test('after a daemon of an older release was killed, a newer one migrates without a wait', async () => {
  const older = await site.serve();
  process.kill(older.pid, 'SIGKILL');
  await older.stop();
  expect(await site.query('SELECT id FROM daemons')).toHaveLength(1);
  const daemon = await serveNewer();
  expect((await signIn(daemon)).status).toBe(200);
  expect(copies()).toHaveLength(dialect === 'sqlite' ? 1 : 0);
});

test('daemons of a newer release that start at once all migrate or wait, and serve', async () => {
  const daemons = await Promise.all([serveNewer(), serveNewer(), serveNewer()]);
  for (const daemon of daemons) expect((await signIn(daemon)).status).toBe(200);
  const applied = await site.query("SELECT name FROM migrations WHERE name = '9999-next'");
  expect(applied).toHaveLength(1);
});

test('with --yes, pending migrations are applied while an older daemon runs, and that daemon stops writing', async () => {
  const older = await site.serve();
  expect((await migrateNewer('--yes')).code).toBe(0);
  await expect.poll(async () => (await signIn(older)).body.code).toBe('schema_newer');
});
