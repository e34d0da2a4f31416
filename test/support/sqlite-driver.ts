/** The driver for SQLite that this run of the file is about. */
export const sqliteDriver: 'node' | 'sqlite3' =
  process.env['IDCTL_TEST_SQLITE_DRIVER'] === 'sqlite3' ? 'sqlite3' : 'node';

/** The setting of it, for the environment of processes; nothing for the default. */
export const driverSetting: Record<string, string> =
  sqliteDriver === 'node' ? {} : { IDCTL_DATABASE_SQLITE_DRIVER: sqliteDriver };
