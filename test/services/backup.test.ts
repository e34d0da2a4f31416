import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { orderedId } from '../../src/crypto/id.ts';
import { createKeyFile, readKeyFile } from '../../src/crypto/key-file.ts';
import { createKeyring } from '../../src/crypto/seal.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { OutboxItem } from '../../src/database/models/outbox-item.ts';
import { Webhook } from '../../src/database/models/webhook.ts';
import { WebhookDelivery } from '../../src/database/models/webhook-delivery.ts';
import { transaction } from '../../src/database/transaction.ts';
import {
  openBackup,
  openBackupFile,
  packed,
} from '../../src/services/instance/backup/container.ts';
import { unpackBackup } from '../../src/services/instance/backup/unpack.ts';
import { registerApp } from '../../src/services/people/apps/operations.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { createLoginLink } from '../../src/services/signin/methods/link.ts';
import { createInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { createSetupLink } from '../../src/services/tenancy/setup-links/operations.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { main, surroundings } from '../support/daemon.ts';
import { dialect, freshDatabaseUrl } from '../support/database.ts';
import { createClient } from '../support/http.ts';
import { type Installation, install } from '../support/installation.ts';

// The backup is made during writes, and restored into another database.

const missing = dialect === 'postgres' && counterpartMissing('postgresql-client');
const user = 'olga@acme.test';
const known = { pat: '', token: '', clientId: '', clientSecret: '', scim: '', org: '' };
const acknowledged: string[] = [];

let site: Installation;
let backup: string;
let session: string;
let botToken: string;
/** The number of acknowledged writes when the backup began, and when it was complete. */
let [before, after] = [0, 0];

beforeAll(async () => {
  if (missing) return;
  site = await install({
    prepare: async (operator) => {
      const pat = await createToken(operator(), { user, name: 'robot' });
      const { clientId, clientSecret } = await registerApp(operator(), { user, name: 'builder' });
      await createSetupLink(
        operator(),
        createSetupLink.input.parse({ org: 'acme', for: ['domain'] }),
      );
      await createInvitation(operator(), { org: 'acme', email: 'new@acme.test', role: 'member' });
      await createLoginLink(operator(), { user });
      await leaveToSend(operator());
      const scim = await rotateScimToken(operator(), { org: 'acme' });
      const org = /[^/]*$/.exec(scim.baseUrl)?.[0] ?? '';
      Object.assign(known, {
        pat: pat.token,
        token: pat.id,
        clientId,
        clientSecret,
        scim: scim.token,
        org,
      });
    },
  });
  backup = join(site.folder, 'idctl.backup');
  await backUpUnderLoad();
}, 120_000);
afterAll(() => site?.close());

async function backUpUnderLoad(): Promise<void> {
  const daemon = await site.serve();
  const client = createClient(daemon.url);
  session = (await client.post('/api/v1/auth/login', site.owner)).body.accessToken;
  botToken = (await mint(daemon.url)).body.access_token;
  let writing = true;
  const writers = [1, 2, 3, 4].map(async (writer) => {
    for (let turn = 1; writing; turn += 1) {
      const name = `w${writer}-${turn}`;
      const headers = { authorization: `Bearer ${session}` };
      const { status } = await client.post('/api/v1/orgs/acme/projects', { name }, headers);
      if (status === 201 || status === 200) acknowledged.push(name);
    }
  });
  while (acknowledged.length <= 20) await Promise.race([pause(20), ...writers]);
  before = acknowledged.length;
  const { code, err } = await site.run(['backup', backup]);
  after = acknowledged.length;
  writing = false;
  await Promise.all(writers);
  await daemon.stop();
  expect([code, err]).toEqual([
    0,
    expect.stringContaining('The backup does not include the master key'),
  ]);
}

/** Adds a webhook with a waiting delivery, and a mail. Both are due tomorrow. */
async function leaveToSend(ctx: Context): Promise<void> {
  const [organization] = await Organization.findAll();
  const [id, at] = [orderedId(), ctx.now];
  const nextAt = new Date(at.getTime() + 86_400_000);
  await transaction(async () => {
    await Webhook.create({
      id,
      organizationId: organization?.id ?? '',
      url: 'https://hooks.acme.test/',
      events: ['webhook.disabled', 'scim.token.suspended'],
      enabled: true,
      secret: ctx.keyring.seal('whsec', { table: 'webhooks', column: 'secret', row: id }),
      createdAt: at,
    });
    await WebhookDelivery.create({
      id,
      webhookId: id,
      event: 'e',
      body: '{}',
      at,
      status: 'waiting',
      nextAt,
    });
    await OutboxItem.create({ id, kind: 'mail', payload: {}, createdAt: at, nextAt });
  });
}

function mint(url: string) {
  const { clientId, clientSecret } = known;
  const client = { client_id: clientId, client_secret: clientSecret };
  return createClient(url).form('/api/v1/oauth/token', {
    grant_type: 'client_credentials',
    ...client,
  });
}

async function restore(...words: string[]) {
  const target = await freshDatabaseUrl();
  const at = { IDCTL_DATABASE: target };
  return { target, at, ...(await site.run(['restore', backup, ...words], '', at)) };
}

const count = async (target: string, from: string) =>
  Number((await site.query(`SELECT count(*) AS n FROM ${from}`, target))[0]?.['n']);

describe.skipIf(missing)('a backup made under load', () => {
  test('is readable by its owner only, and leaves no other file', async () => {
    expect((await stat(backup)).mode & 0o777).toBe(0o600);
    expect((await readdir(site.folder)).sort()).toEqual(['idctl.backup', 'master.key']);
  });

  test('restores every write that was acknowledged before it began, and no write in part', async () => {
    expect(after).toBeGreaterThan(before);
    const { code, target, out } = await restore('--json');
    expect(code).toBe(0);
    const rows = await site.query('SELECT slug FROM projects ORDER BY id', target);
    const slugs = rows.map(({ slug }) => slug);
    expect(slugs).toEqual(expect.arrayContaining(acknowledged.slice(0, before)));
    expect(await count(target, `events WHERE kind = 'project.created'`)).toBe(slugs.length);
    expect(JSON.parse(out)).toMatchObject({
      database: dialect,
      organizations: 1,
      accounts: 1,
      file: backup,
    });
  });

  test('restores no usable session or token: sessions and bot tokens end; other tokens, apps and SCIM tokens are suspended until they are renewed', async () => {
    const { at, target, out } = await restore('--json');
    const told = {
      ended: { sessions: 1, setupLinks: 1, botTokens: 1, invitations: 1 },
      suspended: { tokens: 1, apps: 1, clients: 0, scimTokens: 1, passkeys: 0 },
      disabled: { webhooks: 1 },
    };
    expect(JSON.parse(out)).toMatchObject(told);
    const daemon = await site.serve(at);
    const client = createClient(daemon.url);
    const asks = (token: string) => client.get('/api/v1/me', { authorization: `Bearer ${token}` });
    const provisions = (token: string) =>
      client.get(`/scim/v2/orgs/${known.org}/Users`, { authorization: `Bearer ${token}` });
    for (const token of [session, botToken, known.pat])
      expect((await asks(token)).status).toBe(401);
    expect((await provisions(known.scim)).status).toBe(401);
    expect((await mint(daemon.url)).body.error).toBe('invalid_client');

    const secret = async (...words: string[]) =>
      (await site.run([...words, '--quiet'], '', at)).out.trim();
    expect(await secret('pat', 'list', '--user', user)).toMatch(/suspended/i);
    expect(await secret('scim', 'token', 'show', '--org', 'acme')).toMatch(
      /^Configured: +suspended$/m,
    );
    expect(await secret('status', '--json')).toContain('SCIM of acme: suspended');
    expect(await secret('app', 'list', '--user', user)).toMatch(/suspended/i);
    const browser = createClient(daemon.url, { keepCookies: true });
    await browser.post('/api/v1/auth/login', site.owner);
    expect((await browser.get('/')).body).toContain('suspended on ');
    const renewed = await secret('pat', 'regenerate', known.token, '--yes');
    expect((await asks(renewed)).status).toBe(200);
    expect(
      (await provisions(await secret('scim', 'token', 'rotate', '--org', 'acme', '--yes'))).status,
    ).toBe(200);
    expect(await secret('pat', 'list', '--user', user)).not.toMatch(/suspended/i);
    expect(await count(target, `events WHERE kind = 'backup.restored'`)).toBe(1);
    expect(await count(target, `webhook_deliveries WHERE status = 'dead'`)).toBe(1);
    for (const table of ['login_links', 'invitations', 'setup_links', 'outbox'])
      expect([table, await count(target, table)]).toEqual([table, 0]);
  });

  test('sends nothing after a restore: its webhooks are disabled and have no waiting delivery', async () => {
    const { at, err, target } = await restore();
    expect(err).toContain(
      'Webhooks are disabled, because this may be a test copy. To enable one: idctl webhook enable ID',
    );
    expect(await count(target, 'webhooks WHERE enabled')).toBe(0);
    expect(await count(target, `webhook_deliveries WHERE status = 'waiting'`)).toBe(0);
    const { out } = await site.run(
      ['event', 'list', '--kind', 'webhook.disabled', '--json'],
      '',
      at,
    );
    expect(JSON.parse(out)).toMatchObject([{ data: { reason: 'restored' } }]);
  });

  test('keeps tokens, apps, invitations and webhooks if restored with --keep-tokens, but no sessions', async () => {
    const { target } = await restore('--keep-tokens');
    expect(await count(target, 'webhooks WHERE enabled')).toBe(1);
    expect(await count(target, 'access_tokens WHERE suspended_at IS NULL')).toBe(2);
    expect(await count(target, 'apps WHERE suspended_at IS NULL')).toBe(1);
    expect(await count(target, 'scim_tokens WHERE suspended_at IS NULL')).toBe(1);
    expect(await count(target, 'invitations')).toBe(1);
    expect(await count(target, 'setup_links')).toBe(0);
    expect(await count(target, 'sessions WHERE ended_at IS NULL')).toBe(0);
  });

  test('can be checked with --check, which shows its contents and writes nothing', async () => {
    const { code, out, err, target } = await restore('--check');
    expect([code, err]).toEqual([0, expect.stringContaining('The backup is complete')]);
    expect(out).toMatch(/^Master key: +[\w-]{11}$/m);
    if (dialect === 'sqlite')
      expect(await readdir(dirname(target.slice('sqlite:'.length)))).toEqual([]);
    else
      expect(
        await site.query(
          'SELECT tablename FROM pg_tables WHERE schemaname = current_schema()',
          target,
        ),
      ).toEqual([]);
  });

  test('is refused if any byte is changed or its end is missing', async () => {
    const copy = join(site.folder, 'copy');
    const bytes = await readFile(backup);
    const keyId = bytes.indexOf('"keyId":"') + 9;
    await writeFile(copy, bytes);
    const file = await open(copy, 'r+');
    const sample = [
      ...Array(bytes.indexOf('\n', 20)).keys(),
      ...Array.from({ length: 120 }, () => anywhere(bytes)),
    ];
    for (const at of [
      ...sample,
      ...Array.from({ length: 60 }, (_, back) => bytes.length - 1 - back),
    ]) {
      await file.write(Buffer.of(bytes[at] === 0x58 ? 0x59 : 0x58), 0, 1, at);
      const code = at >= keyId && at < keyId + 11 ? 'key_invalid' : 'backup_invalid';
      await expect(read(copy), `byte ${at}`).rejects.toMatchObject({ code });
      await file.write(bytes, at, 1, at);
    }
    await file.close();
    expect((await read(copy)).header.accounts).toBe(1);
    for (const length of [bytes.length - 1, bytes.length - 33, anywhere(bytes), 200, 20, 3, 0]) {
      await truncate(copy, length);
      await expect(read(copy), `${length} bytes`).rejects.toMatchObject({ code: 'backup_invalid' });
    }
  });

  test('--check with another key is refused, and the message has the id of the right key', async () => {
    const keyFile = join(site.folder, 'other.key');
    await createKeyFile(keyFile);
    const { keyId } = createKeyring(await readKeyFile(site.keyFile));
    const { code, err } = await site.run(['restore', backup, '--check'], '', {
      IDCTL_KEY_FILE: keyFile,
    });
    expect([code, err]).toEqual([3, expect.stringContaining(`needs the master key ${keyId}`)]);
  });

  test('a restore does not overwrite a database with data', async () => {
    const { code, err } = await site.run(['restore', backup]);
    expect([code, err]).toEqual([1, expect.stringMatching(/already|not empty/)]);
    expect(await count(site.database, 'sessions WHERE ended_at IS NULL')).toBe(1);
  });

  test('a backup of a newer idctl or another kind of database is refused, and the message names the version or the kind', async () => {
    const refusal = async (change: object) => {
      const path = await forged(change);
      const { code, err } = await site.run(['restore', path], '', {
        IDCTL_DATABASE: await freshDatabaseUrl(),
      });
      return `${code} ${err}`;
    };
    expect(await refusal({ migration: '9999-later', version: '7.0.0' })).toMatch(
      /^3 .*newer idctl \(7\.0\.0/,
    );
    const other = dialect === 'sqlite' ? 'postgres' : 'sqlite';
    expect(await refusal({ database: other })).toMatch(
      /^1 .*contains a (PostgreSQL|SQLite) database/,
    );
  });

  test('idctl does not start on a database whose restore was interrupted', async () => {
    const target = await freshDatabaseUrl();
    const file = await openBackupFile(backup);
    const address = { url: target, sqliteDriver: 'node' as const };
    const placed = await unpackBackup(await openBackup(file, site.keyFile), address);
    const { code, err } = await site.run(['org', 'list'], '', { IDCTL_DATABASE: target });
    expect([code, err]).toEqual([
      3,
      expect.stringMatching(/There is no database|not the key of this database/),
    ]);
    await placed.takeBack();
    await (await unpackBackup(await openBackup(file, site.keyFile), address)).takeBack();
    await file.close();
  });

  test('a backup made before a rotation of the master key can be restored while the key file still has the old key', async () => {
    const masters = async (more?: Record<string, string>) =>
      (await site.run(['key', 'list', '--json'], '', more)).out.match(
        /"id":"[^"]*","purpose":"master"/g,
      ) ?? [];
    const [former] = await masters();
    expect((await site.run(['key', 'rotate', 'master', '--yes'])).code).toBe(0);
    expect((await masters()).at(-1)).not.toBe(former);
    const { code, at } = await restore();
    expect([code, await masters(at)]).toEqual([0, [former]]);
  });

  test('does not overwrite an existing file without --yes', async () => {
    const kept = await readFile(backup);
    const { code, err } = await site.run(['backup', backup]);
    expect([code, err]).toEqual([2, expect.stringContaining('--yes')]);
    expect(await readFile(backup)).toEqual(kept);
    for (const file of [join(site.folder, 'nowhere/idctl.backup'), site.folder]) {
      expect((await site.run(['backup', file, '--yes'])).code).toBe(2);
    }
  });
});

if (dialect === 'sqlite') {
  test('a backup that is interrupted does not leave files', async () => {
    const folder = join(site.folder, 'temporary');
    await mkdir(folder);
    const env = { IDCTL_DATABASE: site.database, IDCTL_KEY_FILE: site.keyFile, TMPDIR: folder };
    const child = spawn(process.execPath, [main, 'backup', '-'], {
      env: { ...surroundings(), ...env },
    });
    const ended = once(child, 'exit');
    // No process reads the output, so the command waits after it has made its copy.
    await expect.poll(() => readdir(folder)).toEqual([expect.stringContaining('idctl')]);
    child.kill('SIGINT');
    expect(await ended).toEqual([null, 'SIGINT']);
    expect(await readdir(folder)).toEqual([]);
  });

  test('a restore migrates a backup of an older idctl before it suspends the tokens', async () => {
    const older = join(site.folder, 'older.db');
    const file = await openBackupFile(backup);
    const { database } = await openBackup(file, site.keyFile);
    await writeFile(older, database());
    await file.close();
    const unmigrated = new DatabaseSync(older);
    for (const table of ['access_tokens', 'apps', 'scim_tokens'])
      unmigrated.exec(`ALTER TABLE ${table} DROP COLUMN suspended_at`);
    unmigrated.exec(`DELETE FROM migrations WHERE name = '0018-suspensions'`);
    unmigrated.close();
    const path = await forged({ migration: '0016-webhooks' }, createReadStream(older));
    const target = await freshDatabaseUrl();
    const { code, out } = await site.run(['restore', path, '--json'], '', {
      IDCTL_DATABASE: target,
    });
    expect([code, JSON.parse(out).suspended]).toEqual([
      0,
      { tokens: 1, apps: 1, clients: 0, scimTokens: 1, passkeys: 0 },
    ]);
    expect(await readdir(dirname(target.slice('sqlite:'.length)))).toEqual(['idctl.db']);
  });

  test('a restore is refused if SQLite left a -wal file of a deleted database at the target', async () => {
    const target = await freshDatabaseUrl();
    await writeFile(`${target.slice('sqlite:'.length)}-wal`, 'left');
    const { code, err } = await site.run(['restore', backup], '', { IDCTL_DATABASE: target });
    expect([code, err]).toEqual([1, expect.stringContaining('-wal')]);
  });
} else {
  test.each([
    ['#!/bin/sh\necho "pg_dump (PostgreSQL) 9.6.24"\n', 'pg_dump 9 is older than the server'],
    [null, 'pg_dump is not installed'],
  ])(
    'a backup is refused if pg_dump is missing or older than the server, and the message names the package to install',
    async (script, message) => {
      const folder = join(site.folder, crypto.randomUUID());
      await mkdir(folder);
      if (script !== null) await writeFile(join(folder, 'pg_dump'), script, { mode: 0o755 });
      const { code, err } = await site.run(['backup', `${folder}.backup`], '', { PATH: folder });
      expect([code, err]).toEqual([3, expect.stringContaining(message)]);
      expect(err).toContain('apt-get install postgresql-client-15');
    },
  );
}

/** A random offset in the database part of the backup. */
function anywhere(bytes: Buffer): number {
  return 500 + Math.floor(Math.random() * (bytes.length - 600));
}

async function read(path: string) {
  const file = await openBackupFile(path);
  try {
    return await openBackup(file, site.keyFile);
  } finally {
    await file.close();
  }
}

/** Writes the backup with a changed header, sealed with the right key, and returns its path. */
async function forged(change: object, other?: AsyncIterable<Buffer>): Promise<string> {
  const path = join(site.folder, 'forged');
  const file = await openBackupFile(backup);
  const { header, database } = await openBackup(file, site.keyFile);
  const keyring = createKeyring(await readKeyFile(site.keyFile));
  keyring.sealWith(header.keyId);
  await writeFile(path, packed({ ...header, ...change }, other ?? database(), keyring));
  await file.close();
  return path;
}
