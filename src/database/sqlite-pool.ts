import type { OpenConnection, SqliteConnection, SqliteOptions } from './sqlite-connection.ts';
import { checkSeldom, type FileWatch } from './sqlite-file-watch.ts';
import type { WalSync } from './sqlite-sync.ts';

/** The files of a database, while it is open. */
interface Files {
  place: FileWatch;
  sync: WalSync;
}

/** The connections of the process to its database file. */
export interface Connections extends Files {
  reader(): Promise<SqliteConnection>;
  takeWriter(): Promise<SqliteConnection>;
  giveBack(writer: SqliteConnection): Promise<void>;
  close(): Promise<void>;
}

/** Opens each connection when it is first needed. */
export function connections(
  open: OpenConnection,
  options: SqliteOptions,
  files: Files,
): Connections {
  const { place } = files;
  let reader: Promise<SqliteConnection> | undefined;
  let idle: SqliteConnection | undefined;
  let closed = false;
  const checkForRead = checkSeldom(place);
  return {
    ...files,
    async reader() {
      reader ??= openInPlace(open, options, false, files).catch((error) => {
        reader = undefined;
        throw error;
      });
      const reading = await reader;
      checkForRead();
      return reading;
    },
    async takeWriter() {
      const writer = idle;
      idle = undefined;
      return writer ?? openInPlace(open, options, true, files);
    },
    async giveBack(writer) {
      if ((await endsCleanly(writer)) && idle === undefined && !closed) idle = writer;
      else await writer.close();
    },
    async close() {
      closed = true;
      const writing = idle;
      idle = undefined;
      await writing?.close();
      const reading = await reader?.catch(() => undefined);
      await reading?.close();
    },
  };
}

async function openInPlace(
  open: OpenConnection,
  options: SqliteOptions,
  writer: boolean,
  { place, sync }: Files,
): Promise<SqliteConnection> {
  const connection = await open(options, writer);
  try {
    // The first read creates the -wal and -shm files.
    await connection.all('SELECT 1 FROM sqlite_master LIMIT 1', []);
    place.taken();
    if (writer) sync.open();
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function endsCleanly(writer: SqliteConnection): Promise<boolean> {
  try {
    await writer.rollback();
    return true;
  } catch {
    return false;
  }
}
