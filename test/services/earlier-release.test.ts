import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { expect, test } from 'vitest';
import { showSso } from '../../src/services/tenancy/sso/operations.ts';
import { dialect, freshDatabaseUrl } from '../support/database.ts';
import { openIdctl } from '../support/idctl.ts';

const fixture = join(import.meta.dirname, '../fixtures/release-2026-11');
const baseUrl = 'http://127.0.0.1:8420';

interface Held {
  pat: string;
  scim: string;
  org: string;
  user: string;
  app: { clientId: string; clientSecret: string };
  refreshToken: string;
  password: string;
}

test('a database of an earlier release is migrated, its credentials still work, and its data is kept', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-earlier-'));
  const keyFile = join(folder, 'master.key');
  await writeFile(keyFile, await readFile(join(fixture, `${dialect}.key`)), { mode: 0o600 });
  const held: Held = JSON.parse(await readFile(join(fixture, `${dialect}.json`), 'utf8'));
  const idctl = await openIdctl({ baseUrl }, { url: await restored(), keyFile });
  // At this time, nothing in the fixture has expired.
  idctl.wait((Date.parse('2026-11-22T10:00:00Z') - Date.now()) / 1000);
  try {
    const by = (token: string) => idctl.client({ headers: { authorization: `Bearer ${token}` } });
    const { password, app } = held;
    const login = { email: 'ada@acme.test', password };
    const client = { client_id: app.clientId, client_secret: app.clientSecret };
    const answers = [
      await idctl.client().post('/api/v1/auth/login', login),
      await idctl.client().post('/api/v1/auth/refresh', { refreshToken: held.refreshToken }),
      await idctl
        .client()
        .form('/api/v1/oauth/token', { grant_type: 'client_credentials', ...client }),
      await by(held.pat).get('/api/v1/me'),
      await by(held.scim).get(`/scim/v2/orgs/${held.org}/Users/${held.user}`),
      await by(held.pat).get('/api/v1/orgs/acme/domains'),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(answers.at(-1)?.body.items).toMatchObject([{ domain: 'acme.test', state: 'Verified' }]);
    const sso = await showSso(idctl.operator(), { org: 'acme' });
    expect(sso).toMatchObject({ emailDomain: 'acme.test', hasClientSecret: true, enabled: false });
  } finally {
    await idctl.close();
    await rm(folder, { recursive: true, force: true });
  }
});

/** Restores the fixture into a fresh database, and returns its URL. */
async function restored(): Promise<string> {
  const url = await freshDatabaseUrl();
  if (dialect === 'sqlite') {
    const packed = await readFile(join(fixture, 'sqlite.db.gz'));
    await writeFile(url.slice('sqlite:'.length), gunzipSync(packed), { mode: 0o600 });
    return url;
  }
  const sql = gunzipSync(await readFile(join(fixture, 'postgres.sql.gz'))).toString('utf8');
  const client = new pg.Client(url);
  await client.connect();
  // Lines that begin with a backslash are for psql alone.
  await client.query(sql.replaceAll(/^\\.*$/gm, ''));
  await client.end();
  return url;
}
