import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringifyCookie } from 'cookie';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Organization } from '../../src/database/models/organization.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { addCrowd } from '../support/crowd.ts';
import { copyOfDatabase, dialect } from '../support/database.ts';
import { createClient } from '../support/http.ts';
import { type Installation, install } from '../support/installation.ts';
import {
  type BothKinds,
  daemonReported,
  moveTo,
  otherKind,
  startBothKinds,
  withoutPassword,
} from '../support/move.ts';
import { postgresMissing } from '../support/postgres.ts';
import { isSignedBy, type Receiver, startReceiver } from '../support/receiver.ts';

const user = 'olga@acme.test';
const crowd = 250;
const known = { pat: '', scim: '', org: '', webhookSecret: '' };
const env = { IDCTL_OUTBOUND_ALLOW: '127.0.0.1' };

const missing = (await postgresMissing()) !== null;
let site: Installation;
let both: BothKinds;
let receiver: Receiver;
let cookie: string;

beforeAll(async () => {
  if (missing) return;
  [both, receiver] = await Promise.all([startBothKinds(), startReceiver()]);
  site = await install({
    env,
    prepare: async (operator) => {
      known.pat = (await createToken(operator(), { user, name: 'robot' })).token;
      known.scim = (await rotateScimToken(operator(), { org: 'acme' })).token;
      const [organization] = await Organization.findAll();
      known.org = organization?.id ?? '';
    },
  });
  const webhook = ['webhook', 'add', receiver.url, '--org', 'acme', '--events', 'project.created'];
  known.webhookSecret = (await site.run([...webhook, '--quiet'])).out.trim();
  const daemon = await site.serve();
  const browser = createClient(daemon.url, { keepCookies: true });
  await browser.post('/api/v1/auth/login', site.owner);
  cookie = stringifyCookie(Object.fromEntries(browser.jar));
  await daemon.stop();
  // No daemon runs, so the delivery of the event waits.
  await site.run(['project', 'create', 'Rocket', '--org', 'acme']);
  await addCrowd(site.database, known.org, crowd);
}, 120_000);
afterAll(async () => {
  await site?.close();
  await Promise.all([both?.stop(), receiver?.stop()]);
});

const at = (database: string) => ({ IDCTL_DATABASE: database });
const rowsIn = async (database: string, table: string) =>
  Number((await site.query(`SELECT count(*) AS n FROM ${table}`, database))[0]?.['n']);

describe.skipIf(missing)('database move', { timeout: 180_000 }, () => {
  test('to the other kind keeps sessions, tokens, secrets and waiting deliveries, and the old database is then refused', async () => {
    const from = await copyOfDatabase(site.database);
    const to = await both.fresh(otherKind);
    const { code, out, err } = await moveTo(site, to, at(from), '--json');
    expect([code, err]).toEqual([0, expect.stringContaining('Next: set database.url')]);
    const view = JSON.parse(out);
    const shown = withoutPassword(to);
    expect(view).toMatchObject({ from: withoutPassword(from), to: shown });
    for (const { name, rows } of view.tables) {
      // The move records itself in the new database.
      const added = name === 'events' ? 1 : 0;
      expect([name, await rowsIn(to, name)]).toEqual([name, rows + added]);
    }
    expect(await rowsIn(to, `events WHERE kind = 'database.moved'`)).toBe(1);

    for (const words of [['serve'], ['org', 'list'], ['migrate'], ['backup', 'never']]) {
      const refused = await site.run([...words, '--json'], '', at(from));
      expect([words, refused.code]).toEqual([words, 3]);
      expect(JSON.parse(refused.err)).toMatchObject({
        code: 'database_moved',
        detail: `This database was moved to ${shown}.`,
        movedTo: shown,
      });
    }

    const daemon = await site.serve(at(to));
    const client = createClient(daemon.url);
    expect((await client.get('/api/v1/me', { cookie })).body.email).toBe(user);
    expect((await client.post('/api/v1/auth/refresh', {}, { cookie })).status).toBe(200);
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    expect((await client.get('/api/v1/me', bearer(known.pat))).body.email).toBe(user);
    const users = await client.get(`/scim/v2/orgs/${known.org}/Users?count=1`, bearer(known.scim));
    expect([users.status, users.body.totalResults]).toEqual([200, crowd + 1]);
    await expect.poll(() => receiver.received.length).toBe(1);
    const [delivered] = receiver.received;
    expect(delivered && isSignedBy(known.webhookSecret, delivered)).toBe(true);
    await daemon.stop();
  });

  test('is refused while a daemon serves, and works after the daemon has stopped', async () => {
    const from = await copyOfDatabase(site.database);
    const to = await both.fresh(otherKind);
    const daemon = await site.serve(at(from));
    await daemonReported(site, from);
    const refused = await moveTo(site, to, at(from));
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining(`A daemon is using this database: ${daemon.url}`),
    ]);
    await daemon.stop();
    expect((await moveTo(site, to, at(from))).code).toBe(0);
  });

  test('lists with --dry-run what it would copy and each refusal, and writes nothing', async () => {
    const from = await copyOfDatabase(site.database);
    const to = await both.fresh('sqlite');
    const { code, out, err } = await moveTo(site, to, at(from), '--dry-run', '--json');
    expect([code, err]).toEqual([0, expect.stringContaining('Dry run')]);
    const view = JSON.parse(out);
    expect(view.refusals).toEqual([]);
    expect(view.tables).toContainEqual({ name: 'accounts', rows: crowd + 1 });
    expect(await readdir(join(to.slice('sqlite:'.length), '..'))).not.toContain(
      to.slice(to.lastIndexOf('/') + 1),
    );

    const daemon = await site.serve(at(from));
    await daemonReported(site, from);
    await writeFile(to.slice('sqlite:'.length), 'no database', { mode: 0o600 });
    const refused = await moveTo(site, to, at(from), '--dry-run', '--json');
    await daemon.stop();
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.out).refusals).toMatchObject([
      { code: 'conflict', message: expect.stringContaining('A daemon is using') },
      { code: 'database_unreachable', message: expect.stringContaining(to) },
    ]);
  });

  test('to a database that is not empty is refused, and so is a move to the current one', async () => {
    const from = await copyOfDatabase(site.database);
    const other = await copyOfDatabase(site.database);
    for (const to of [from, other]) {
      const { code, err } = await moveTo(site, to, at(from));
      expect([code, err]).toEqual([1, expect.stringContaining('is not empty')]);
    }
    expect((await site.run(['org', 'list'], '', at(from))).code).toBe(0);
  });

  // The command refuses these before it opens a database, so one kind is enough.
  test.runIf(dialect === 'sqlite')(
    'X4 refuses a password in an argument, and invalid or contradictory options',
    async () => {
      for (const [words, said] of [
        [
          ['--to', 'postgres://idctl:secret@127.0.0.1/idctl'],
          '--to: must not contain the password',
        ],
        [
          ['--to', 'postgres://127.0.0.1/idctl?user=a&password=secret'],
          '--to: must not contain the password',
        ],
        [['--to', 'mysql://127.0.0.1/idctl'], '--to: must be sqlite:'],
        [['--to', 'sqlite:a', '--to-file', 'b'], '--to-file: cannot be combined'],
        [['--to-file', '/nowhere/at/all'], '--to-file: /nowhere/at/all'],
        [[], '--to: is required'],
      ] as const) {
        const { code, err } = await site.run(['database', 'move', ...words]);
        expect([words, code, err]).toEqual([words, 2, expect.stringContaining(said)]);
      }
    },
  );
});
