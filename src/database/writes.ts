import { randomBytes, randomUUID } from 'node:crypto';
import type { Sequelize } from 'sequelize';
import { OutboxItem } from './models/outbox-item.ts';
import { databaseRefusal } from './refusals.ts';
import { rehearse, transaction } from './transaction.ts';

/** Tracks whether the database has space for writes. */
export interface Writes {
  /** Call it with the error of each failed transaction. */
  failed(error: unknown): void;
  /** False after a write fails for lack of space, until a trial write succeeds. */
  writable(): Promise<boolean>;
}

// Anyone can ask, so a full database is tested at most once in this many milliseconds.
const tryEvery = 1_000;

/** Watches the writes of a database. */
export function watchWrites(sequelize: Sequelize): Writes {
  let full = false;
  let triedAt = Number.NEGATIVE_INFINITY;
  return {
    failed(error) {
      if (databaseRefusal(error)?.code === 'database_full') full = true;
    },
    async writable() {
      if (!full || performance.now() - triedAt < tryEvery) return !full;
      triedAt = performance.now();
      full = await tryWrite(sequelize).then(
        () => false,
        () => true,
      );
      return !full;
    },
  };
}

/** Allocates space in the database without a change. Throws as a write would. */
export async function tryWrite(sequelize: Sequelize): Promise<void> {
  if (sequelize.getDialect() === 'sqlite') {
    // Nothing reads this number, but storing it writes a page.
    await transaction(() => sequelize.query('PRAGMA user_version = 0'));
    return;
  }
  // PostgreSQL allocates space for a row at once, even if the row is rolled back.
  const now = new Date();
  const payload = { text: randomBytes(8_000).toString('base64') };
  const item = { id: randomUUID(), kind: 'room', payload, createdAt: now, nextAt: now };
  await rehearse(() => OutboxItem.create(item));
}
