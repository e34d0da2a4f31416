import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';

// Copies the pages of a large transaction from the -wal file to the database. The driver is
// synchronous, so on the main thread this would block requests longer than the commit itself. A
// passive checkpoint does not make writers wait.

const database = new DatabaseSync(String(workerData), { timeout: 1000 });
try {
  database.exec('PRAGMA wal_checkpoint(PASSIVE)');
} finally {
  database.close();
}
