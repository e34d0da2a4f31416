import { dialect } from './database.ts';
import type { Installation } from './installation.ts';

// Reads the database of an installation directly: the states to compare with a ledger, and
// violations of the invariants of its rows.

type Row = Record<string, unknown>;

const tables = {
  accounts: 'id, email',
  memberships: 'organization_id, account_id',
  tombstones: 'organization_id, account_id',
  sessions: 'id, account_id, method, ended_at',
  refresh_tokens: 'id, session_id, rotated_at, successor_id',
  access_tokens: 'id, account_id, name',
  scim_records: 'id, organization_id, account_id, link, user_name, active, version, resource',
  events: 'id, kind, organization_id, subject, data',
  webhooks: 'id, organization_id, events',
  webhook_deliveries: 'id, event, body, status',
};

interface Happened {
  id: string;
  kind: string;
  organization: string;
  subject: string;
  data: Row;
}

/** The rows of the tables that the invariants are about. */
export interface Stored {
  rows: Record<keyof typeof tables, Row[]>;
  events: Happened[];
}

/** Reads the rows. No process may write at the same time. */
export async function readStored(site: Installation): Promise<Stored> {
  const names = Object.keys(tables) as (keyof typeof tables)[]; // The keys of a literal.
  const read = names.map(
    async (name) => [name, await site.query(`SELECT ${tables[name]} FROM ${name}`)] as const,
  );
  // One entry for each key.
  const rows = Object.fromEntries(await Promise.all(read)) as Stored['rows'];
  const events = rows.events.map((row) => ({
    id: String(row['id']),
    kind: String(row['kind']),
    organization: String(row['organization_id']),
    subject: String(parsed(row['subject'])?.['id']),
    data: parsed(row['data']) ?? {},
  }));
  return { rows, events };
}

/** The state of each subject of a ledger. */
export function statesIn({ rows, events }: Stored): Map<string, string | number> {
  const states = new Map<string, string | number>();
  const emails = new Map(rows.accounts.map((row) => [row['id'], String(row['email'])]));
  const add = (subject: string) => states.set(subject, Number(states.get(subject) ?? 0) + 1);
  for (const row of rows.scim_records) {
    const name = parsed(row['resource'])?.['displayName'];
    states.set(`SCIM ${row['user_name']}`, `${row['active'] ? 'active' : 'inactive'} ${name}`);
  }
  for (const { name } of rows.access_tokens) states.set(`token ${name}`, 'live');
  for (const row of rows.memberships) states.set(`member ${emails.get(row['account_id'])}`, 'live');
  for (const { id, account_id, method, ended_at } of rows.sessions) {
    if (ended_at === null) states.set(`session ${id}`, 'live');
    add(`sign-ins of ${emails.get(account_id)} by ${method}`);
  }
  for (const { kind, subject } of events) add(`${kind} of ${emails.get(subject)}`);
  return states;
}

/** Describes the faults in the rows: half-done writes, and rows that refer to missing rows. */
export async function faultsIn(site: Installation, stored: Stored): Promise<string[]> {
  return [
    ...accountFaults(stored),
    ...memberFaults(stored),
    ...sessionFaults(stored),
    ...tokenFaults(stored),
    ...deliveryFaults(stored),
    ...(dialect === 'sqlite' ? await fileFaults(site) : []),
  ];
}

function accountFaults({ rows, events }: Stored): string[] {
  // An account that SCIM creates has the event of its record instead; see memberFaults.
  const made = count([
    ...events.filter(({ kind }) => kind === 'user.created').map(subjectOf),
    ...rows.scim_records
      .filter(({ link }) => link === 'created')
      .map((row) => String(row['account_id'])),
  ]);
  const ids = new Set(rows.accounts.map(({ id }) => String(id)));
  const owned = ['memberships', 'sessions', 'access_tokens', 'scim_records'] as const;
  return [
    ...[...ids].filter((id) => made.get(id) !== 1).map((id) => `account ${id} was not made once`),
    ...[...made.keys()].filter((id) => !ids.has(id)).map((id) => `account ${id} is missing`),
    ...owned.flatMap((table) =>
      rows[table]
        .filter((row) => !ids.has(String(row['account_id'])))
        .map((row) => `${table}: ${JSON.stringify(row)} has no account`),
    ),
  ];
}

const joins = ['member.added', 'scim.user.provisioned'];
const leaves = ['member.removed', 'scim.user.deactivated'];

/** Finds people whose membership, SCIM record, tombstone and events disagree. */
function memberFaults({ rows, events }: Stored): string[] {
  const about = (row: Row) => `${row['organization_id']} ${row['account_id']}`;
  const members = new Set(rows.memberships.map(about));
  const tombs = new Set(rows.tombstones.map(about));
  const changes = Map.groupBy(
    events.filter(({ kind }) => /^(member\.|scim\.user\.)/.test(kind)),
    ({ organization, subject }) => `${organization} ${subject}`,
  );
  const records = new Set(rows.scim_records.map(about));
  const faults = [...members].filter((who) => !records.has(who)).map((who) => `${who}: no record`);
  for (const row of rows.scim_records) {
    const who = about(row);
    const kinds = (changes.get(who) ?? []).map(({ kind }) => kind);
    const times = (of: string[]) => kinds.filter((kind) => of.includes(kind)).length;
    const said = {
      record: Boolean(row['active']),
      membership: members.has(who),
      tombstone: !tombs.has(who),
      events: times(joins) - times(leaves) === 1,
    };
    if (new Set(Object.values(said)).size > 1) faults.push(`${who}: ${JSON.stringify(said)}`);
    // Each change of a record adds one to its version and records one event.
    if (row['version'] !== kinds.length)
      faults.push(`${who}: version ${row['version']} after ${kinds.join(', ')}`);
  }
  return faults;
}

function sessionFaults({ rows, events }: Stored): string[] {
  const kinds = Map.groupBy(events, ({ kind }) => kind);
  const started = count((kinds.get('session.started') ?? []).map(({ data }) => data['session']));
  const ended = new Set((kinds.get('session.ended') ?? []).map(subjectOf));
  const changed = new Set((kinds.get('user.password.changed') ?? []).map(subjectOf));
  const families = Map.groupBy(rows.refresh_tokens, (row) => row['session_id']);
  const faults = (kinds.get('session.reuse.detected') ?? []).map(
    ({ subject }) => `a refresh token of ${subject} was treated as stolen`,
  );
  for (const { id, account_id, ended_at } of rows.sessions) {
    if (started.get(id) !== 1) faults.push(`session ${id} did not start once`);
    const ends = ended.has(String(id)) || changed.has(String(account_id));
    if (ended_at !== null && !ends) faults.push(`session ${id} ended without an event`);
    if (ended_at === null && ended.has(String(id))) faults.push(`session ${id} goes on`);
    // One token of the family is the last; every other token has one successor in the family.
    const family = families.get(id) ?? [];
    const ids = new Set(family.map((row) => row['id']));
    const successors = family.flatMap((row) => row['successor_id'] ?? []);
    const whole = new Set(successors).size === successors.length && ids.size > successors.length;
    const unused = family.filter((row) => row['rotated_at'] === null).length;
    if (!whole || unused !== 1 || !successors.every((one) => ids.has(one)))
      faults.push(`session ${id}: refresh tokens ${JSON.stringify(family)}`);
  }
  if (started.size !== rows.sessions.length) faults.push('sessions started that are missing');
  return faults;
}

function tokenFaults({ rows, events }: Stored): string[] {
  const live = new Set(rows.access_tokens.map(({ id }) => String(id)));
  const of = (wanted: string) => events.filter(({ kind }) => kind === wanted).map(subjectOf);
  const [made, revoked] = [count(of('token.created')), count(of('token.revoked'))];
  const ids = new Set([...live, ...made.keys(), ...revoked.keys()]);
  return [...ids]
    .filter((id) => made.get(id) !== 1 || (live.has(id) ? 0 : 1) !== (revoked.get(id) ?? 0))
    .map((id) => `token ${id}: made ${made.get(id)}, revoked ${revoked.get(id)}`);
}

/** Finds the events that a webhook subscribes to and that do not have exactly one delivery. */
function deliveryFaults({ rows, events }: Stored): string[] {
  const bodies = rows.webhook_deliveries.map((row) => parsed(row['body']) ?? {});
  const queued = count(bodies.map((body) => parsed(body['data'])?.['id']));
  return rows.webhooks.flatMap((webhook) => {
    const wanted = [parsed(webhook['events']) ?? []].flat().map(String);
    const isWanted = ({ organization, kind }: Happened) =>
      organization === webhook['organization_id'] &&
      wanted.some((one) => kind.startsWith(one.replace('*', '')));
    // Ids sort by time.
    const since = events.find(({ kind }) => kind === 'webhook.added')?.id ?? '';
    return events
      .filter((event) => event.id > since && isWanted(event) && queued.get(event.id) !== 1)
      .map(({ id, kind }) => `event ${id} (${kind}) has ${queued.get(id) ?? 0} deliveries`);
  });
}

async function fileFaults(site: Installation): Promise<string[]> {
  const checks = await site.query('PRAGMA integrity_check');
  const orphans = await site.query('PRAGMA foreign_key_check');
  return [...checks.filter((row) => row['integrity_check'] !== 'ok'), ...orphans].map((row) =>
    JSON.stringify(row),
  );
}

const subjectOf = ({ subject }: Happened) => subject;

function count<Value>(values: Value[]): Map<Value, number> {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Parses JSON from the database, which SQLite returns as text. */
function parsed(value: unknown): Row | null {
  return typeof value === 'string' ? JSON.parse(value) : (value as Row | null);
}
