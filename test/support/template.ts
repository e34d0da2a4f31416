import { openDatabase } from '../../src/database/open.ts';

/** Migrates the empty database that the databases of a run are copied from; its URL. */
export async function migrateTemplate(url: string): Promise<string> {
  const database = await openDatabase({ url, sqliteDriver: 'node' });
  await database.migrate();
  await database.close();
  return url;
}
