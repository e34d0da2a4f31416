import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { QueryTypes } from 'sequelize';
import { Refusal } from '../errors.ts';
import { codeOf } from '../host/file-fault.ts';
import { type Address, applicationName, fileOf, type Link } from './connect.ts';
import { pendingMigrations } from './migrate.ts';
import { onPlain } from './plain-connection.ts';
import { isCopying, nextFor } from './snapshot.ts';

// A process of an earlier release writes rows that the new schema does not expect. So pending
// migrations wait until no such process uses the database. Processes that start at the same time
// may all have pending migrations: they wait for each other.

/** The longest wait for other processes to end, in milliseconds. */
const patience = 10_000;
const migrationPatience = 300_000;
/** A pooler keeps a connection open after its client has ended. A daemon queries each second. */
const liveSeconds = 30;

/** The next pending migration, or null, and the places of other processes, or null. */
interface Look {
  next: string | null;
  others: string | null;
}

/**
 * Resolves when no migration is pending, or when no process of another release uses the database.
 * Otherwise refuses with `conflict`. On SQLite, call it before this process opens the database:
 * every process that has the file open counts.
 */
export async function requireNoOtherRelease(link: Link, address: Address): Promise<void> {
  const look = () => (link.dialect === 'sqlite' ? lookAtFile(address) : lookAtServer(link));
  let [since, before] = [performance.now(), ''];
  for (;;) {
    const { next, others } = await look();
    if (next === null || others === null) return;
    // Another process of this release copies or migrates the database.
    const isMoving = next !== before || (link.dialect === 'sqlite' && isCopying(address));
    if (isMoving) since = performance.now();
    before = next;
    if (performance.now() - since > patience) throw inUse(others, link.dialect);
    // The random pause keeps processes from looking at the same instant repeatedly.
    await pause(50 + Math.random() * 400);
  }
}

function inUse(others: string, dialect: Link['dialect']): Refusal {
  const pooler =
    dialect === 'sqlite' ? '' : ` Behind a connection pooler, wait ${liveSeconds} seconds more.`;
  return new Refusal(
    'conflict',
    `The database must be migrated, but another release of idctl is using it${others}.`,
    {
      hint: {
        technical: `Stop the daemons and commands of the other release, then start this one again.${pooler} To migrate anyway: idctl migrate --yes`,
      },
    },
  );
}

async function lookAtServer({ sequelize }: Link): Promise<Look> {
  // First the sessions: a process of this release migrates before it does anything else.
  const rows = await sequelize.query<{ place: string }>(
    `SELECT DISTINCT coalesce(host(client_addr), 'this host') AS place FROM pg_stat_activity
     WHERE datname = current_database()
       AND application_name LIKE 'idctl%' AND application_name <> $1
       AND (state IS DISTINCT FROM 'idle'
         OR state_change > clock_timestamp() - interval '${liveSeconds} seconds')
     ORDER BY place`,
    { type: QueryTypes.SELECT, bind: [applicationName] },
  );
  const [next = null] = await pendingMigrations(sequelize);
  const places = rows.map(({ place }) => place).join(', ');
  return { next, others: rows.length === 0 ? null : ` (connections from ${places})` };
}

async function lookAtFile(address: Address): Promise<Look> {
  if (!existsSync(fileOf(address.url))) return { next: null, others: null };
  // A process that is migrating holds the write lock, so this waits for it.
  const next = await onPlain(address, migrationPatience, async ({ all }) => {
    await all('BEGIN IMMEDIATE');
    const pending = await nextFor((sql) => all(sql));
    await all('ROLLBACK');
    return pending;
  });
  return { next, others: next === null || (await isAlone(address)) ? null : '' };
}

/** Whether no process has the file open. Does not wait. */
async function isAlone(address: Address): Promise<boolean> {
  try {
    await onPlain(address, 0, async ({ all }) => {
      await all('PRAGMA locking_mode = EXCLUSIVE');
      await all('BEGIN IMMEDIATE');
      await all('ROLLBACK');
    });
    return true;
  } catch (error) {
    if (codeOf(error) !== 'SQLITE_BUSY') throw error;
    return false;
  }
}
