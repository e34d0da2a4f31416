import { randomBytes, randomUUID } from 'node:crypto';
import type { Sequelize } from 'sequelize';
import { OutboxItem } from './models/outbox-item.ts';
import { databaseRefusal } from './refusals.ts';
import { rehearse, transaction } from './transaction.ts';

/** Knows whether the database has room for writes. */
export interface Writes {
  /** Takes the error of a transaction that failed. */
  failed(error: unknown): void;
  /** False from a write that failed for lack of space until one succeeds. */
  writable(): Promise<boolean>;
}

// Anyone may ask, so a full database is tried at most once in this many milliseconds.
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

/** Makes the database take room, and changes nothing. Throws as a write would. */
export async function tryWrite(sequelize: Sequelize): Promise<void> {
  if (sequelize.getDialect() === 'sqlite') {
    // Nothing reads this number; storing it again writes a page.
    await transaction(() => sequelize.query('PRAGMA user_version = 0'));
    return;
  }
  // PostgreSQL takes room for a row at once, whether or not the row is kept.
  const now = new Date();
  const payload = { text: randomBytes(8_000).toString('base64') };
  const item = { id: randomUUID(), kind: 'room', payload, createdAt: now, nextAt: now };
  await rehearse(() => OutboxItem.create(item));
}
