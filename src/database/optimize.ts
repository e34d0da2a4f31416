import { execute } from './execute.ts';
import { dialectOfDatabase } from './select.ts';
import { transaction } from './transaction.ts';

// 0x02 analyzes what has grown, 0x10000 looks at all tables: the writer does not know what the readers ask.
const mask = '0x10002';

/** Keeps the statistics that SQLite plans by; it reads a bounded sample of each table. PostgreSQL does so by itself. */
export async function refreshStatistics(): Promise<void> {
  if (dialectOfDatabase() === 'sqlite') await transaction(() => execute(`PRAGMA optimize = ${mask}`, []));
}
