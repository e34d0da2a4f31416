const names: Record<number, string> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  19: 'SQLITE_CONSTRAINT_CHECK',
  26: 'SQLITE_NOTADB',
  787: 'SQLITE_CONSTRAINT_FOREIGNKEY',
  1299: 'SQLITE_CONSTRAINT_NOTNULL',
  1555: 'SQLITE_CONSTRAINT_PRIMARYKEY',
  1811: 'SQLITE_CONSTRAINT_TRIGGER',
  2067: 'SQLITE_CONSTRAINT_UNIQUE',
  2579: 'SQLITE_CONSTRAINT_ROWID',
};

/** Gives a driver's error the code that Sequelize expects. Other errors stay unchanged. */
export function namedError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const number = numberOf(error);
  if (number === 0 || isNamed(error)) return error;
  return Object.assign(error, { code: names[number] ?? names[number & 0xff] ?? 'SQLITE_ERROR' });
}

/** Whether another connection holds the lock that the statement needs. */
export function isBusy(error: unknown): boolean {
  // Excludes BUSY_SNAPSHOT (517): waiting cannot help a read that is too old to become a write.
  return [5, 261, 773].includes(numberOf(error));
}

/** Whether the error says that the connection is read-only. */
export function isReadOnlyFault(error: unknown): boolean {
  return numberOf(error) === 8;
}

/** Whether the error says that the query was interrupted on request. */
export function isInterrupted(error: unknown): boolean {
  return numberOf(error) === 9;
}

/**
 * SQLite's error number. node:sqlite calls it `errcode`. The package sqlite3 calls it `errno`, as
 * system errors do.
 */
function numberOf(error: unknown): number {
  if (!(error instanceof Error)) return 0;
  if ('errcode' in error) return Number(error.errcode);
  return isNamed(error) && 'errno' in error ? Number(error.errno) : 0;
}

function isNamed(error: Error): boolean {
  return 'code' in error && String(error.code).startsWith('SQLITE_');
}
