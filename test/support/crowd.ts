import { type Values, writeBatch } from '../../src/database/bulk.ts';
import { connectPlain, type PlainConnection } from '../../src/database/plain-connection.ts';
import type { Table } from '../../src/database/tables.ts';
import { sqliteDriver } from './sqlite-driver.ts';

// Writes thousands of rows directly, because the operations would take minutes.

const at = '2026-01-02 03:04:05.678 +00:00';
const later = '2126-01-02 03:04:05.678 +00:00';
const batch = 500;

type Row = Record<string, unknown>;

/** The id of row `number` of a table; ids sort by the number. */
function idOf(table: number, number: number): string {
  const digits = (value: number, length: number) => value.toString(16).padStart(length, '0');
  return `019b7${digits(table, 3)}-0000-7000-8000-${digits(number, 12)}`;
}

/** The rows of one account of a crowd, by table. */
function rowsOf(number: number, organization: string): Record<string, Row> {
  const account_id = idOf(1, number);
  const session_id = idOf(2, number);
  const record_id = idOf(3, number);
  // The collation of a database server sorts these letters in another order than their bytes.
  const name = `${'aÄbZzé_-'.charAt(number % 8)}person ${number}\n"ß" 🦊`;
  const email = `person-${number}@crowd.test`;
  const by = { created_at: at, organization_id: organization };
  const resource = JSON.stringify({ userName: email, name: { formatted: name }, n: 1.5 });
  return {
    accounts: {
      id: account_id,
      email,
      email_proof: 'mail',
      name,
      locale: 'en',
      password_hash: number % 2 ? `$argon2id$${'x'.repeat(90)}` : null,
      awaits_code: number % 3 === 0 ? 1 : 0,
      totp_last_step: number % 5 ? null : number,
      created_at: at,
    },
    memberships: {
      organization_id: organization,
      account_id,
      role: 'member',
      origin: '{"kind":"scim", "by":"crowd"}',
      joined_at: at,
    },
    sessions: {
      id: session_id,
      account_id,
      method: 'password',
      created_at: at,
      last_seen_at: at,
      expires_at: later,
    },
    refresh_tokens: {
      id: idOf(4, number),
      session_id,
      key_id: 'crowd',
      issued_at: at,
      expires_at: later,
    },
    scim_records: {
      id: record_id,
      account_id,
      link: 'created',
      user_name: email,
      user_name_canonical: email,
      active: 1,
      hidden: 0,
      resource,
      search: resource,
      version: 1,
      modified_at: at,
      ...by,
    },
    scim_emails: { record_id, value_canonical: email, organization_id: organization },
    events: {
      id: idOf(5, number),
      kind: 'user.created',
      at,
      organization_id: organization,
      actor: '{"kind":"system","name":"crowd"}',
      subject: number % 2 ? null : `{"type":"user","id":"${account_id}"}`,
      data: '{}',
    },
    counters: {
      key: `${'aÄbZzé_-'.charAt(number % 8)}crowd ${number}`,
      subject: 'crowd',
      window_id: session_id,
      used: 1,
      seconds: 900,
      began_at: 1_767_323_045.678 + number / 3,
      expires_at: 4_922_996_645,
    },
  };
}

/**
 * Adds `size` accounts to an organization, each with a session, a SCIM record, an event and a
 * counter.
 */
export async function addCrowd(url: string, organization: string, size: number): Promise<void> {
  const connection = await connectPlain({ url, sqliteDriver }, 60_000);
  await connection.setSync(false);
  for (let from = 0; from < size; from += batch) {
    const some = Array.from({ length: Math.min(batch, size - from) }, (_, number) =>
      rowsOf(from + number, organization),
    );
    for (const table of Object.keys(some[0] ?? {}))
      await insert(
        connection,
        table,
        some.map((row) => row[table] ?? {}),
      );
  }
  await connection.close();
}

async function insert(connection: PlainConnection, name: string, rows: Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}).map((column) => ({
    name: column,
    kind: kindOf(name, column),
  }));
  const values: Values[] = rows.map((row) => columns.map((column) => row[column.name] ?? null));
  await writeBatch(connection, { name, columns, key: [] }, values);
}

function kindOf(table: string, column: string): Table['columns'][number]['kind'] {
  if (/^(id|.*_id)$/.test(column) && `${table}.${column}` !== 'refresh_tokens.key_id')
    return 'uuid';
  if (/^(began|expires)_at$/.test(column) && table === 'counters') return 'number';
  if (/(^at|_at)$/.test(column)) return 'time';
  if (/^(origin|actor|subject|data)$/.test(column) && table !== 'counters') return 'json';
  if (column === 'search') return 'jsonb';
  if (/^(active|hidden|awaits_code)$/.test(column)) return 'flag';
  return /^(version|used|seconds|totp_last_step)$/.test(column) ? 'integer' : 'text';
}
