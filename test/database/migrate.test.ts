import { DataTypes, QueryTypes, type Sequelize } from 'sequelize';
import { expect, test } from 'vitest';
import { orderedId } from '../../src/crypto/id.ts';
import { connect, type Link } from '../../src/database/connect.ts';
import { applyMigrations, pendingMigrations } from '../../src/database/migrate.ts';
import { migrations } from '../../src/database/migrations/index.ts';
import type { Migration } from '../../src/database/migrations/migration.ts';
import { openDatabase } from '../../src/database/open.ts';
import { transaction, transactionOn } from '../../src/database/transaction.ts';
import { dialect, freshDatabaseUrl, openFreshDatabase } from '../support/database.ts';
import { databaseChild } from '../support/database-process.ts';
import { sqliteDriver } from '../support/sqlite-driver.ts';

const names = migrations.map((migration) => migration.name);

const open = (url: string) => openDatabase({ url, sqliteDriver });

/** Runs the work over a connection like that of migrations, without foreign keys. */
async function onLink<T>(url: string, work: (link: Link) => Promise<T>): Promise<T> {
  const link = await connect(
    { url, sqliteDriver },
    { poolSize: 2, patience: 5_000, foreignKeys: false },
  );
  try {
    return await work(link);
  } finally {
    await link.close();
  }
}

const parents: Migration = {
  name: '0001-parents',
  async up({ queryInterface, sequelize }) {
    await queryInterface.createTable('parents', {
      id: { type: DataTypes.INTEGER, primaryKey: true },
    });
    await queryInterface.createTable('children', {
      parent: {
        type: DataTypes.INTEGER,
        references: { model: 'parents', key: 'id' },
        onDelete: 'CASCADE',
      },
    });
    await sequelize.query('INSERT INTO parents VALUES (1)');
    await sequelize.query('INSERT INTO children VALUES (1)');
  },
};

test('an empty database is migrated, and a second migration does nothing', async () => {
  const database = await open(await freshDatabaseUrl());
  try {
    expect(await database.pending()).toEqual(names);
    expect(await database.migrate()).toEqual(names);
    expect(await database.pending()).toEqual([]);
    expect(await database.migrate()).toEqual([]);
  } finally {
    await database.close();
  }
});

test('five processes that migrate at once apply each migration exactly once', {
  timeout: 180_000,
}, async () => {
  const url = await freshDatabaseUrl();
  const children = Array.from({ length: 5 }, () => databaseChild(url, 'migrate'));
  const said = await Promise.all(children.map((child) => child.says()));
  await Promise.all(children.map((child) => child.ends()));
  expect(said.flat().sort()).toEqual(names);
});

test('a process killed during a migration leaves nothing of that migration', async () => {
  const url = await freshDatabaseUrl();
  const child = databaseChild(url, 'migrateHalf');
  await child.says();
  child.process.kill('SIGKILL');
  await child.ends().catch(() => {});
  await onLink(url, async (link) => {
    // PostgreSQL notices late that the client is gone; the migration waits for its lock.
    await applyMigrations(link, migrations);
    expect(await link.sequelize.getQueryInterface().tableExists('half')).toBe(false);
    expect(await pendingMigrations(link.sequelize)).toEqual([]);
  });
});

test('a migration that throws is undone, and earlier migrations stay', async () => {
  const failing: Migration = {
    name: '0002-failing',
    async up({ queryInterface }) {
      await queryInterface.createTable('half', { id: DataTypes.INTEGER });
      throw new Error('half-way');
    },
  };
  await onLink(await freshDatabaseUrl(), async (link) => {
    await expect(applyMigrations(link, [parents, failing])).rejects.toThrow('half-way');
    expect(await link.sequelize.getQueryInterface().tableExists('half')).toBe(false);
    expect(await pendingMigrations(link.sequelize, [parents, failing])).toEqual(['0002-failing']);
  });
});

test('an older idctl neither lists nor applies migrations on the database of a newer idctl', async () => {
  await onLink(await freshDatabaseUrl(), async (link) => {
    await applyMigrations(link, [parents]);
    const refused = pendingMigrations(link.sequelize, []);
    // Without a copy, a backup is the way back.
    await expect(refused).rejects.toMatchObject({
      code: 'schema_newer',
      hint: expect.arrayContaining([{ to: 'restore it', operation: 'restore' }]),
    });
    await expect(applyMigrations(link, [])).rejects.toMatchObject({ code: 'schema_newer' });
  });
});

test('I3 accounts that wait for a mailed code from an older idctl still wait after the migration; provisioned accounts do not', async () => {
  await onLink(await freshDatabaseUrl(), async (link) => {
    await applyMigrations(
      link,
      migrations.filter(({ name }) => name < '0024'),
    );
    const add = (table: string, row: object) =>
      transactionOn(link.sequelize, () =>
        link.sequelize.getQueryInterface().bulkInsert(table, [row]),
      );
    const at = new Date();
    const org = crypto.randomUUID();
    await add('organizations', { id: org, slug: 'acme', name: 'Acme', created_at: at });
    const account = async (name: string, made: object) => {
      const id = crypto.randomUUID();
      await add('accounts', {
        id,
        name,
        email: `${name}@x.test`,
        locale: 'en',
        created_at: at,
        ...made,
      });
      return id;
    };
    const unproved = { email_proof: 'none', password_hash: 'a hash' };
    await account('signed-up', unproved);
    await account('proved', { ...unproved, email_proof: 'mail' });
    const [set, again] = [
      await account('set-by-operator', unproved),
      await account('signed-up-again', { ...unproved, sign_up_replaced_at: at }),
    ];
    const pushed = await account('pushed', { email_proof: 'none' });
    for (const account_id of [set, again, pushed]) {
      const names = {
        user_name: account_id,
        user_name_canonical: account_id,
        resource: '{}',
        search: '{}',
      };
      const times = { created_at: at, modified_at: at };
      const record = {
        account_id,
        organization_id: org,
        link: 'created',
        active: true,
        hidden: false,
      };
      await add('scim_records', {
        id: crypto.randomUUID(),
        version: 1,
        ...record,
        ...names,
        ...times,
      });
    }
    await applyMigrations(link, migrations);
    const waiting = await rowsOf(link.sequelize, 'accounts WHERE awaits_code ORDER BY name');
    expect(waiting).toMatchObject([{ name: 'signed-up' }, { name: 'signed-up-again' }]);
  });
});

test('I7 the migration keeps the last claim of each identity, except where only the first sign-in synced', async () => {
  await onLink(await freshDatabaseUrl(), async (link) => {
    await applyMigrations(
      link,
      migrations.filter(({ name }) => name < '0035'),
    );
    const schema = link.sequelize.getQueryInterface();
    const [at, id] = [new Date(), () => crypto.randomUUID()];
    await transactionOn(link.sequelize, async () => {
      for (const [sync_on_login, name] of [
        [true, 'each'],
        [false, 'first'],
      ] as const) {
        const [org, account, connection] = [id(), id(), id()];
        await schema.bulkInsert('organizations', [{ id: org, slug: name, name, created_at: at }]);
        const person = { name, email_proof: 'sso', locale: 'en', created_at: at };
        await schema.bulkInsert('accounts', [{ id: account, ...person }]);
        const of = { organization_id: org, issuer: name };
        const client = { client_id: 'c', client_secret: 's', groups_claim: 'groups' };
        const off = { enabled: false, auto_remove: false, ignore_email_verified: false };
        const settings = { ...off, absent_groups: 'unknown', require_local_two_factor: false };
        const sso = { ...of, ...client, ...settings, sync_on_login, created_at: at };
        await schema.bulkInsert('sso_connections', [{ id: connection, ...sso }]);
        const groups = JSON.stringify([name]);
        for (const connection_id of [connection, id()]) {
          const key = { account_id: account, kind: 'sso', connection_id, subject: connection_id };
          const rest = { ...key, ...of, last_groups: groups, linked_at: at };
          await schema.bulkInsert('identities', [{ id: id(), ...rest }]);
        }
      }
    });
    await applyMigrations(link, migrations);
    const rows = (issuer: string, known: 'NULL' | 'NOT NULL') =>
      rowsOf(link.sequelize, `identities WHERE issuer = '${issuer}' AND known_groups IS ${known}`);
    expect(await rows('each', 'NOT NULL')).toHaveLength(2);
    // The row with known groups is the identity without a connection in `sso_connections`.
    for (const known of ['NULL', 'NOT NULL'] as const)
      expect(await rows('first', known)).toHaveLength(1);
  });
});

test('I8 the migration approves existing connections, with events that name them and the owners with a second factor', async () => {
  await onLink(await freshDatabaseUrl(), async (link) => {
    await applyMigrations(
      link,
      migrations.filter(({ name }) => name < '0037'),
    );
    const schema = link.sequelize.getQueryInterface();
    const [at, org, sso, ldap] = [new Date(), orderedId(), orderedId(), orderedId()];
    const made = { created_at: at };
    const flags = { enabled: true, auto_remove: false, ignore_email_verified: false };
    const person = async (email: string, role: string, more: object) => {
      const [id, of] = [orderedId(), { organization_id: org }];
      const account = { id, email, name: 'Ada', email_proof: 'mail', locale: 'en', ...made };
      await schema.bulkInsert('accounts', [{ ...account, ...more }]);
      const membership = { account_id: id, role, origin: '{"kind":"operator"}', synced: false };
      await schema.bulkInsert('memberships', [{ ...membership, ...of, joined_at: at }]);
      const key = { account_id: id, kind: 'sso', connection_id: sso, issuer: 'i', subject: id };
      await schema.bulkInsert('identities', [{ id: orderedId(), ...key, ...of, linked_at: at }]);
    };
    await transactionOn(link.sequelize, async () => {
      await schema.bulkInsert('organizations', [{ id: org, slug: 'acme', name: 'Acme', ...made }]);
      const client = { client_id: 'c', client_secret: 's', groups_claim: 'g', issuer: 'https://i' };
      const rest = { absent_groups: 'unknown', require_local_two_factor: false };
      const row = { id: sso, organization_id: org, email_domain: 'acme.test', ...client, ...rest };
      await schema.bulkInsert('sso_connections', [
        { ...row, ...flags, sync_on_login: true, ...made },
      ]);
      const names = { email_attribute: 'm', given_name_attribute: 'g', family_name_attribute: 's' };
      const search = { search_base: 'b', search_filter: 'f', bind_dn: 'd', bind_password: 'p' };
      const directory = { id: ldap, organization_id: org, uri: 'ldaps://d', tls: true };
      await schema.bulkInsert('ldap_connections', [
        { ...directory, ...names, ...search, enabled: false, ...made },
      ]);
      await person('totp@acme.test', 'owner', { totp_enabled_at: at });
      await person('passkey@acme.test', 'owner', { has_passkey: true });
      await person('without@acme.test', 'owner', {});
      await person('admin@acme.test', 'admin', { totp_enabled_at: at });
    });
    await applyMigrations(link, migrations);
    for (const table of ['sso_connections', 'ldap_connections'])
      expect(await rowsOf(link.sequelize, `${table} WHERE approved`)).toHaveLength(1);
    const events = await rowsOf(link.sequelize, 'events ORDER BY kind');
    const event = (kind: string, id: string, name: string, owners: string[]) => ({
      kind: `${kind}.approved`,
      organization_id: org,
      subject: { type: kind, id, name },
      data: { owners },
    });
    expect(events.map((row) => withoutText(row))).toMatchObject([
      event('ldap', ldap, 'ldaps://d', []),
      event('sso', sso, 'acme.test', ['totp@acme.test', 'passkey@acme.test']),
    ]);
  });
});

/** The row with its JSON columns read: SQLite returns them as text. */
function withoutText(row: unknown): object {
  const entries = Object.entries(row ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' && value.startsWith('{') ? JSON.parse(value) : value,
  ]);
  return Object.fromEntries(entries);
}

test('P15 the migration gives existing tokens the scope write', async () => {
  await onLink(await freshDatabaseUrl(), async (link) => {
    const before = migrations.slice(
      0,
      migrations.findIndex(({ name }) => name.startsWith('0020')),
    );
    await applyMigrations(link, before);
    const account = {
      id: '0198c0de-0000-7000-8000-000000000001',
      name: 'Ada',
      email_proof: 'operator',
      created_at: new Date(),
    };
    const token = {
      kind: 'pat',
      name: 'ci',
      prefix: 'cos_pat_x',
      hash: 'x',
      created_at: new Date(),
    };
    await transactionOn(link.sequelize, async () => {
      const schema = link.sequelize.getQueryInterface();
      await schema.bulkInsert('accounts', [account]);
      await schema.bulkInsert('access_tokens', [
        { id: account.id, account_id: account.id, ...token },
      ]);
    });
    await applyMigrations(link, migrations);
    expect(await rowsOf(link.sequelize, 'access_tokens')).toMatchObject([
      { name: 'ci', scope: 'write' },
    ]);
  });
});

if (dialect === 'sqlite') {
  test('rebuilding a parent table keeps the rows of its child table', async () => {
    const rebuild: Migration = {
      name: '0002-rebuild',
      async up({ sequelize }) {
        await sequelize.query('CREATE TABLE parents_new (id INTEGER PRIMARY KEY, name TEXT)');
        await sequelize.query('INSERT INTO parents_new (id) SELECT id FROM parents');
        await sequelize.query('DROP TABLE parents');
        await sequelize.query('ALTER TABLE parents_new RENAME TO parents');
      },
    };
    await onLink(await freshDatabaseUrl(), async (link) => {
      await applyMigrations(link, [parents, rebuild]);
      expect(await rowsOf(link.sequelize, 'children')).toEqual([{ parent: 1 }]);
    });
  });

  test('a migration that leaves a child without its parent is refused and undone', async () => {
    const orphan: Migration = {
      name: '0002-orphan',
      async up({ sequelize }) {
        await sequelize.query('DELETE FROM parents');
      },
    };
    await onLink(await freshDatabaseUrl(), async (link) => {
      await expect(applyMigrations(link, [parents, orphan])).rejects.toThrow(
        'with missing parents',
      );
      expect(await rowsOf(link.sequelize, 'parents')).toEqual([{ id: 1 }]);
    });
  });
}

test('the migrated schema equals the schema of the models', async () => {
  const migrated = await openFreshDatabase();
  const byMigrations = await schemaOf(migrated.sequelize).finally(() => migrated.close());
  const synced = await open(await freshDatabaseUrl());
  const byModels = await transaction(() => synced.sequelize.sync())
    .then(() => schemaOf(synced.sequelize))
    .finally(() => synced.close());
  expect(Object.keys(byModels).length).toBeGreaterThan(5);
  expect(byMigrations).toEqual(byModels);
});

async function rowsOf(sequelize: Sequelize, table: string): Promise<unknown[]> {
  return transactionOn(sequelize, async () => (await sequelize.query(`SELECT * FROM ${table}`))[0]);
}

async function schemaOf(sequelize: Sequelize): Promise<Record<string, unknown>> {
  const schema = sequelize.getQueryInterface();
  const tables = (await schema.showAllTables()).filter((table) => table !== 'migrations').sort();
  const described: Record<string, unknown> = {};
  for (const table of tables) {
    described[table] = {
      columns: await columnsOf(sequelize, table),
      indexes: await indexesOf(sequelize, table),
      references: await referencesOf(sequelize, table),
    };
  }
  return described;
}

/** Reads a table's columns. No default and a default of NULL count as equal. */
async function columnsOf(sequelize: Sequelize, table: string): Promise<Record<string, unknown>> {
  if (dialect === 'sqlite') {
    // Sequelize cannot describe a table of SQLite with an index over an expression.
    const [rows] = await sequelize.query(
      `SELECT name, type, "notnull", NULLIF(dflt_value, 'NULL') AS value, pk FROM pragma_table_info('${table}')`,
    );
    return Object.fromEntries(rows.map((row) => [Reflect.get(Object(row), 'name'), row]));
  }
  const columns = Object.entries(await sequelize.getQueryInterface().describeTable(table));
  return Object.fromEntries(
    columns.map(([name, column]) => [
      name,
      { ...column, defaultValue: column.defaultValue ?? null },
    ]),
  );
}

async function indexesOf(sequelize: Sequelize, table: string): Promise<unknown[]> {
  const [rows] = await sequelize.query(
    dialect === 'sqlite'
      ? `SELECT name, sql AS definition FROM sqlite_master WHERE type = 'index' AND tbl_name = '${table}' ORDER BY name`
      : `SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE tablename = '${table}' ORDER BY 1`,
  );
  return rows;
}

async function referencesOf(sequelize: Sequelize, table: string): Promise<unknown[]> {
  const [rows] = await sequelize.query(
    dialect === 'sqlite'
      ? `SELECT "from", "table", "to", on_delete FROM pragma_foreign_key_list('${table}') ORDER BY 1`
      : `SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' AND conrelid = '${table}'::regclass ORDER BY 1`,
  );
  return rows;
}

test('I1 the migration gives existing directory identities the server of their directory', async () => {
  const at = names.indexOf('0021-former-keys');
  const then = new Date();
  const ids = {
    organization: orderedId(),
    account: orderedId(),
    ldap: orderedId(),
    key: orderedId(),
  };
  const servers = await onLink(await freshDatabaseUrl(), async (link) => {
    await applyMigrations(link, migrations.slice(0, at));
    const rows = link.sequelize.getQueryInterface();
    await transactionOn(link.sequelize, async () => {
      await rows.bulkInsert('organizations', [
        { id: ids.organization, slug: 'acme', name: 'Acme', created_at: then },
      ]);
      await rows.bulkInsert('accounts', [
        {
          id: ids.account,
          email: 'ada@acme.test',
          email_proof: 'domain',
          name: 'Ada',
          created_at: then,
        },
      ]);
      const settings = {
        ...{
          uri: 'ldaps://ldap.acme.test:1636',
          tls: true,
          bind_dn: 'cn=idctl',
          bind_password: 'sealed',
        },
        ...{ search_base: 'dc=acme', search_filter: '(uid={username})', email_attribute: 'mail' },
        ...{
          given_name_attribute: 'givenName',
          family_name_attribute: 'sn',
          enabled: true,
          created_at: then,
        },
      };
      await rows.bulkInsert('ldap_connections', [
        { id: ids.ldap, organization_id: ids.organization, ...settings },
      ]);
      const key = {
        account_id: ids.account,
        organization_id: ids.organization,
        subject: 's',
        linked_at: then,
      };
      await rows.bulkInsert('identities', [
        { ...key, id: ids.key, kind: 'ldap', connection_id: ids.ldap, issuer: 'entryUUID' },
        {
          ...key,
          id: orderedId(),
          kind: 'sso',
          connection_id: orderedId(),
          issuer: 'https://id.acme.test',
        },
      ]);
    });
    await applyMigrations(link);
    return link.sequelize.query<{ kind: string; server: string | null }>(
      'SELECT kind, server FROM identities ORDER BY kind',
      { type: QueryTypes.SELECT },
    );
  });
  expect(servers).toEqual([
    { kind: 'ldap', server: 'ldap.acme.test' },
    { kind: 'sso', server: null },
  ]);
});
