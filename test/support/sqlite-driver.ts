/** The driver for SQLite that this run of the file is about. */
export const sqliteDriver = process.env['IDCTL_TEST_SQLITE_DRIVER'] === 'sqlite3' ? 'sqlite3' : 'node';
