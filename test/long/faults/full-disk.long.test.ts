import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { rootMissing } from '../../support/counterpart.ts';
import { dialect } from '../../support/database.ts';
import { createClient } from '../../support/http.ts';
import { install } from '../../support/installation.ts';
import { startPostgres, unprivileged } from '../../support/postgres.ts';
import { mountSmallDisk, type SmallDisk } from '../../support/small-disk.ts';

/** The URL of a database whose files are on this disk. */
async function databaseOn(disk: SmallDisk): Promise<string> {
  if (dialect === 'sqlite') return `sqlite:${disk.folder}/idctl.db`;
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const place = join(disk.folder, 'tables');
  mkdirSync(place);
  const { uid, gid } = unprivileged();
  if (uid !== undefined) chownSync(place, uid, gid);
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query(`CREATE TABLESPACE small LOCATION '${place}'`);
  await client.query('CREATE DATABASE idctl TABLESPACE small');
  await client.end();
  return Object.assign(new URL(server.url), { pathname: '/idctl' }).href;
}

describe.skipIf(rootMissing())('a disk that is full', () => {
  test('shows in /readyz and doctor while reads work, and writes work again once there is space', async () => {
    const disk = mountSmallDisk(dialect === 'sqlite' ? 8 : 48);
    onTestFinished(() => disk.unmount());
    const database = await databaseOn(disk);
    const site = await install();
    onTestFinished(() => site.close());
    const here = { IDCTL_DATABASE: database, IDCTL_LOG_LEVEL: 'info' };
    const run = (...words: string[]) => site.run(words, '', here);
    const config = join(site.folder, 'idctl.yaml');
    const first = ['--org', 'Acme', '--owner', 'olga@acme.test'];
    expect((await run('init', '--yes', '--config', config, ...first)).code).toBe(0);
    const made = ['pat', 'create', '--user', 'olga@acme.test', '--name', 'ci', '--scope', 'admin'];
    const token = (await run(...made, '--quiet')).out.trim();
    const daemon = await site.serve(here);
    const client = createClient(daemon.url);
    const authorization = `Bearer ${token}`;
    let count = 0;
    const write = async () => {
      count += 1;
      const body = { name: 'x'.repeat(60), slug: `project-${count}` };
      return (await client.post('/api/v1/orgs/acme/projects', body, { authorization })).status;
    };
    const ready = async () => {
      const { status, body } = await client.get('/readyz');
      return [status, body.writable];
    };
    const roomOf = async () => {
      const { checks } = JSON.parse((await run('doctor', '--json')).out);
      return checks.find(({ name }: { name: string }) => name === 'writes');
    };
    expect(await write()).toBe(201);
    expect(await ready()).toEqual([200, true]);
    expect(await roomOf()).toMatchObject({ ok: true });

    disk.fill();
    // Space that the database reserved earlier takes a few more writes.
    await expect.poll(write, { interval: 1 }).toBe(503);
    expect(await ready()).toEqual([200, false]);
    expect((await client.get('/api/v1/me', { authorization })).status).toBe(200);
    expect(await roomOf()).toMatchObject({
      ok: false,
      message: expect.stringContaining('no space left'),
    });
    for (let time = 0; time < 20; time += 1) await write();

    disk.empty();
    await expect.poll(ready).toEqual([200, true]);
    expect(await write()).toBe(201);
    expect(await roomOf()).toMatchObject({ ok: true });
    await expect.poll(() => daemon.log()).toContain('the database can be used again');
    expect(await daemon.stop()).toBe(0);
    const lines = daemon.log().trim().split('\n');
    const told = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error');
    expect(told.map(({ msg, code }) => [msg, code])).toEqual([
      ['the database cannot be used', 'database_full'],
    ]);
  }, 60_000);
});
