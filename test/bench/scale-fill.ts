import { openApp } from '../../src/app.ts';
import { configSchema } from '../../src/config/schema.ts';
import { openContext } from '../../src/context.ts';
import { idOfInstant } from '../../src/crypto/id.ts';
import { sealedPrefix } from '../../src/crypto/seal.ts';
import { connectPlain, type PlainConnection } from '../../src/database/plain-connection.ts';
import { memberResource } from '../../src/services/foundation/scim-user/resource.ts';
import { searchDocument } from '../../src/services/foundation/scim-user/search.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { createUser } from '../../src/services/people/users/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { createOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import type { People } from './scim-people.ts';

// Makes the database itself create millions of accounts, each with a membership, a session, a
// refresh token, an event, a SCIM record and its e-mail, and an organization for each hundred.

/** A filled organization, and the data that its clients need. */
export interface Crowd extends People {
  slug: string;
  /** A token of the owner. */
  owner: string;
  password: string;
  /** The id of the nth account. */
  accountOf(n: number): string;
  /** Whether the nth account has a password. */
  hasPassword(n: number): boolean;
}

const password = 'correct horse battery';
const chunk = 50_000;

/** The configuration of a benchmark: mail is set up, so that every job has work. */
export function configOf(database: string, keyFile: string) {
  const settings = configSchema.parse({
    log: { level: 'fatal' },
    mail: { smtpUrl: 'smtp://127.0.0.1:9' },
  });
  const address = { ...settings.database, url: database };
  return { ...settings, baseUrl: 'http://127.0.0.1', keyFile, database: address };
}

/** Fills a fresh database with `count` accounts in one organization. */
export async function fillCrowd(database: string, keyFile: string, count: number): Promise<Crowd> {
  const app = await openApp({ config: configOf(database, keyFile) }, { migrate: 'yes' });
  const operator = openContext(app, { kind: 'operator', name: 'bench' });
  const user = 'owner@elsewhere.test';
  const { id, slug } = await createOrganization(operator, { name: 'Scale' });
  await createUser(operator, { email: user, name: 'Ada', password });
  await addMember(operator, { org: slug, email: user, role: 'owner' });
  const { token: owner } = await createToken(operator, { user, name: 'bench', scope: 'admin' });
  const { token } = await rotateScimToken(operator, { org: slug });
  const prefix = sealedPrefix(operator.keyring.keyId);
  const hash = await operator.passwords.hash(password);
  await app.close();
  const connection = await openPlain(database);
  const statements = crowdStatements({ id, prefix, dialect: connection.dialect });
  for (let from = 1; from <= count; from += chunk)
    await insert(connection, statements, [from, Math.min(from + chunk - 1, count)], [hash]);
  await insert(connection, tenantStatements(connection.dialect), [1, Math.ceil(count / 100)]);
  const statistics = 'PRAGMA optimize = 0x10012';
  await connection.all(connection.dialect === 'postgres' ? 'VACUUM ANALYZE' : statistics);
  await connection.close();
  return {
    count,
    slug,
    owner,
    token,
    password,
    base: `/scim/v2/orgs/${id}`,
    nameOf: (n) => `u${n + 1}@elsewhere.test`,
    accountOf: (n) => idOf('a000', n + 1),
    hasPassword: (n) => (n + 1) % 4 > 0,
  };
}

/** A connection for statements that take minutes and need not reach the disk. */
export async function openPlain(database: string): Promise<PlainConnection> {
  const connection = await connectPlain({ url: database, sqliteDriver: 'node' }, 1_200_000);
  await connection.setSync(false);
  return connection;
}

/** Runs the statements for the numbers from `first` to `last`, in one transaction. */
async function insert(
  connection: PlainConnection,
  statements: string[],
  [first, last]: [number, number],
  values: string[] = [],
): Promise<void> {
  const numbers = `WITH RECURSIVE s(n) AS
    (SELECT ${first} UNION ALL SELECT n + 1 FROM s WHERE n < ${last}) `;
  await connection.all('BEGIN');
  for (const statement of statements) {
    const own = statement.includes('$1') ? values : [];
    await connection.all(statement.replace('SELECT', `${numbers}SELECT`), own);
  }
  await connection.all('COMMIT');
}

function idOf(kind: string, n: number): string {
  return `019a0000-0000-7000-${kind}-${n.toString(16).padStart(12, '0')}`;
}

/** How each database writes an id, an instant and a JSON value that depend on `n`. */
function wordsOf(dialect: 'sqlite' | 'postgres') {
  const postgres = dialect === 'postgres';
  return {
    id: (kind: string, of = 'n') => {
      const start = `'019a0000-0000-7000-${kind}-'`;
      return postgres
        ? `CAST(${start} || lpad(to_hex(${of}), 12, '0') AS uuid)`
        : `${start} || printf('%012x', ${of})`;
    },
    /** The time `seconds` after the epoch, plus `n` milliseconds. */
    time: (seconds: number) =>
      postgres
        ? `to_timestamp(${seconds} + n / 1000.0)`
        : `strftime('%Y-%m-%d %H:%M:%f +00:00', ${seconds} + n / 1000.0, 'unixepoch')`,
    /** The text with `n` in place of each `#`. */
    json: (text: string, type: 'json' | 'jsonb' | 'text') => {
      const filled = `replace('${text}', '#', CAST(n AS text))`;
      return postgres ? `CAST(${filled} AS ${type})` : filled;
    },
    uuid: (id: string) => (postgres ? `CAST('${id}' AS uuid)` : `'${id}'`),
  };
}

function crowdStatements(of: {
  id: string;
  prefix: string;
  dialect: 'sqlite' | 'postgres';
}): string[] {
  const { id, time, json, uuid } = wordsOf(of.dialect);
  const email = 'u#@elsewhere.test';
  const resource = memberResource({ email, name: 'Ada Byron' });
  const mail = json(email, 'text');
  const organization = uuid(of.id);
  const now = Math.floor(Date.now() / 1000);
  const [ago, later] = [time(now - 86_400), time(now + 86_400 * 20)];
  // The sweep finds old refresh tokens by the time in their ids.
  const recently = idOfInstant((now - 86_400) * 1000).slice(0, 13);
  const token = id('a002').replace('019a0000-0000', recently);
  const subject = json(`{"type":"user","id":"#"}`, 'json');
  return [
    `INSERT INTO accounts (id, email, email_proof, name, locale, password_hash, awaits_code,
       totp_secret, created_at)
     SELECT ${id('a000')}, ${mail}, CASE n % 4 WHEN 0 THEN 'none' ELSE 'domain' END, 'Ada', 'en',
       CASE n % 4 WHEN 0 THEN NULL ELSE $1 END, false,
       CASE n % 2 WHEN 0 THEN '${of.prefix}${'x'.repeat(64)}' END, ${ago} FROM s`,
    `INSERT INTO memberships (organization_id, account_id, role, origin, joined_at)
     SELECT ${organization}, ${id('a000')}, 'member', ${json('{"kind":"scim"}', 'json')}, ${ago}
       FROM s`,
    `INSERT INTO sessions (id, account_id, method, created_at, last_seen_at, expires_at)
     SELECT ${id('a001')}, ${id('a000')}, 'password', ${ago}, ${ago}, ${later} FROM s`,
    `INSERT INTO refresh_tokens (id, session_id, key_id, issued_at, expires_at)
     SELECT ${token}, ${id('a001')}, 'bench', ${ago}, ${later} FROM s`,
    `INSERT INTO events (id, kind, at, organization_id, actor, subject, data)
     SELECT ${id('a003')}, 'member.added', ${ago}, ${organization},
       ${json('{"kind":"system"}', 'json')}, ${subject}, ${json('{}', 'json')} FROM s`,
    `INSERT INTO scim_records (id, organization_id, account_id, link, user_name,
       user_name_canonical, external_id, active, hidden, resource, search, version, created_at,
       modified_at)
     SELECT ${id('a004')}, ${organization}, ${id('a000')}, 'created', ${mail}, ${mail},
       ${json('e#', 'text')}, true, false, ${json(JSON.stringify(resource), 'text')},
       ${json(JSON.stringify(searchDocument(resource)), 'jsonb')}, 1, ${ago}, ${ago} FROM s`,
    `INSERT INTO scim_emails (record_id, value_canonical, organization_id)
     SELECT ${id('a004')}, ${mail}, ${organization} FROM s`,
  ];
}

/** For each number, an organization with a hundred accounts and the owner of the large one. */
function tenantStatements(dialect: 'sqlite' | 'postgres'): string[] {
  const { id, time, json } = wordsOf(dialect);
  const ago = time(Math.floor(Date.now() / 1000) - 86_400);
  const manual = json('{"kind":"manual"}', 'json');
  return [
    `INSERT INTO organizations (id, slug, name, created_at)
     SELECT ${id('a005')}, ${json('tenant-#', 'text')}, ${json('Tenant #', 'text')}, ${ago} FROM s`,
    `INSERT INTO memberships (organization_id, account_id, role, origin, joined_at)
     SELECT ${id('a005')}, a.id, 'owner', ${manual}, ${ago}
       FROM s JOIN accounts a ON a.email = 'owner@elsewhere.test'`,
    `INSERT INTO memberships (organization_id, account_id, role, origin, joined_at)
     SELECT ${id('a005')}, a.id, 'member', ${manual}, ${ago}
       FROM s JOIN accounts a ON a.id BETWEEN ${id('a000', 'n * 100 - 99')} AND ${id('a000', 'n * 100')}`,
  ];
}

/** Adds `count` expired rows of each kind, including events past their retention. */
export async function addExpired(database: string, first: number, count: number): Promise<void> {
  const connection = await openPlain(database);
  const { id, time, json } = wordsOf(connection.dialect);
  const now = Math.floor(Date.now() / 1000);
  const [ago, old] = [time(now - 86_400 * 40), time(now - 86_400 * 500)];
  const account = `(SELECT id FROM accounts WHERE email = 'owner@elsewhere.test')`;
  // These ids are older than every id that is created now.
  const oldest = id('b003').replace('019a0000', '01000000');
  const statements = [
    `INSERT INTO sessions (id, account_id, method, created_at, last_seen_at, expires_at)
     SELECT ${id('b001')}, ${account}, 'password', ${ago}, ${ago}, ${ago} FROM s`,
    `INSERT INTO refresh_tokens (id, session_id, key_id, issued_at, expires_at)
     SELECT ${id('b002')}, ${id('b001')}, 'bench', ${ago}, ${ago} FROM s`,
    `INSERT INTO spent_states (id, expires_at) SELECT ${json('s#', 'text')}, ${ago} FROM s`,
    `INSERT INTO counters (key, subject, window_id, used, seconds, began_at, expires_at)
     SELECT ${json('c#', 'text')}, 'bench', ${id('b004')}, 1, 1, ${now - 100}, ${now - 99} FROM s`,
    `INSERT INTO events (id, kind, at, actor, data)
     SELECT ${oldest}, 'member.added', ${old}, ${json('{"kind":"system"}', 'json')},
       ${json('{}', 'json')} FROM s`,
  ];
  for (let at = first; at < first + count; at += chunk)
    await insert(connection, statements, [at, Math.min(at + chunk, first + count) - 1]);
  await connection.close();
}
