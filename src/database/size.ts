import { statSync } from 'node:fs';
import { dialectOfDatabase, select } from './select.ts';

/** The size in bytes of a SQLite database with its journal, or of a PostgreSQL database. */
export async function sizeOf(url: string): Promise<number> {
  if (dialectOfDatabase() === 'postgres') {
    const [row] = await select<{ size: number }>(
      'SELECT pg_database_size(current_database()) AS size',
      [],
    );
    if (row === undefined) throw new Error('the database has no size');
    return row.size;
  }
  const file = url.replace(/^sqlite:(\/\/)?/, '');
  const sizes = [file, `${file}-wal`].map(
    (path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
