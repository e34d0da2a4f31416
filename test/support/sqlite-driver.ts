/** The SQLite driver that this run of the test file uses. */
export const sqliteDriver: 'node' | 'sqlite3' =
  process.env['IDCTL_TEST_SQLITE_DRIVER'] === 'sqlite3' ? 'sqlite3' : 'node';

/** The driver's setting for the environment of processes; empty for the default driver. */
export const driverSetting: Record<string, string> =
  sqliteDriver === 'node' ? {} : { IDCTL_DATABASE_SQLITE_DRIVER: sqliteDriver };
