import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { restartDaemon } from '../../../config/unit-credentials.ts';
import type { Database } from '../../../database/open.ts';
import { right, skipped, wrong } from '../../../finding.ts';
import { shellWord } from '../../../text/shell-word.ts';
import { type Check, check } from './check.ts';
import { checkQuickly, readJournalMode } from './database.sql.ts';

/** The database to check, and how to open it. */
export interface Subject {
  /** The URL without its password, because it is shown. */
  url: string;
  /** The file of a SQLite database; null for a server. */
  file: string | null;
  open(): Promise<Database>;
}

// The driver checks the whole file in one go, so larger files would block the process.
const maxToRead = 1024 ** 3;

/** Checks the database and its integrity. Leaves out checks that cannot run after a failed one. */
export async function checkDatabase(subject: Subject): Promise<Check[]> {
  const { url, file } = subject;
  if (file !== null && !existsSync(file)) {
    return [
      await check('database', 'the file exists', async () =>
        wrong(`${file} does not exist`, [
          { technical: 'Correct database.url.' },
          { say: 'Or for a new instance', operation: 'init' },
        ]),
      ),
    ];
  }
  let database: Database | undefined;
  const reached = await check('database', 'it answers', async () => {
    database = await subject.open();
    await database.ping();
    return right(url);
  });
  try {
    if (!reached.ok || database === undefined) return [reached];
    const migrated = await checkMigrations(database);
    const checks = [reached, migrated];
    if (migrated.ok) checks.push(await checkWrites(database));
    return [...checks, ...(file === null ? [] : await checkFile(file))];
  } finally {
    await database?.close();
  }
}

function checkMigrations(database: Database): Promise<Check> {
  return check('migrations', 'all applied', async () => {
    const pending = await database.pending();
    if (pending.length === 0) return right('all applied');
    const more = pending.length === 1 ? '' : ` and ${pending.length - 1} more`;
    return wrong(`${pending[0]}${more} not applied`, [
      `${restartDaemon(process.env)}, which applies them.`,
      { say: 'If no daemon is running', operation: 'migrate' },
    ]);
  });
}

/** Checks that writes succeed: on a full disk, only reads do. */
function checkWrites(database: Database): Promise<Check> {
  return check('writes', 'the database accepts writes', async () => {
    await database.tryWrite();
    return right('the database accepts writes');
  });
}

/** Checks a SQLite database: journal, pages, and the permissions of its files (security X8). */
async function checkFile(file: string): Promise<Check[]> {
  return [
    await check('journal', 'write-ahead (WAL)', async () => {
      const mode = (await readJournalMode()) ?? 'unknown';
      return mode === 'wal'
        ? right('write-ahead (WAL)')
        : wrong(
            mode,
            `sqlite3 ${shellWord(file)} 'PRAGMA journal_mode=WAL', with the daemon stopped`,
          );
    }),
    await check('integrity', 'the file is whole', () => checkPages(file)),
    await check('database files', 'mode 0600, owned by the user who runs idctl', () =>
      checkModes(file),
    ),
  ];
}

async function checkPages(file: string) {
  const { size } = await stat(file);
  if (size > maxToRead) {
    return skipped(
      `the file has ${Math.round(size / maxToRead)} GiB`,
      `sqlite3 ${shellWord(file)} 'PRAGMA quick_check'`,
    );
  }
  const said = (await checkQuickly()) ?? 'nothing';
  if (said === 'ok') return right('whole');
  // The first line only names the database.
  const fault = said.split('\n').find((line) => line !== '' && !line.startsWith('***')) ?? said;
  return wrong(`damaged: ${fault}`, [
    `Stop idctl and move ${file}, ${file}-wal and ${file}-shm away.`,
    { say: 'Then run', operation: 'restore', with: { file: 'BACKUP' } },
  ]);
}

async function checkModes(file: string) {
  const own = process.geteuid?.();
  const { uid: owner } = await stat(file);
  for (const path of [file, `${file}-wal`, `${file}-shm`].filter((each) => existsSync(each))) {
    const { mode, uid } = await stat(path);
    if ((mode & 0o077) !== 0) {
      return wrong(
        `${path} is open to other users (mode ${(mode & 0o777).toString(8).padStart(4, '0')})`,
        `chmod 600 ${shellWord(path)}`,
      );
    }
    if (uid !== owner) {
      return wrong(
        `${path} belongs to uid ${uid}, but the database to uid ${owner}`,
        `chown ${owner} ${shellWord(path)}`,
      );
    }
  }
  if (own !== undefined && owner !== own)
    return wrong(
      `${file} belongs to uid ${owner}, but idctl runs as ${own}`,
      `Run idctl as the user with the id ${owner}.`,
    );
  return right('readable by their owner only');
}
