import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '../../src/database/connect.ts';
import { applyMigrations } from '../../src/database/migrate.ts';
import { first } from '../../src/database/migrations/0001-first.ts';
import { OutboxItem } from '../../src/database/models/outbox-item.ts';
import { openDatabase } from '../../src/database/open.ts';
import { transaction } from '../../src/database/transaction.ts';
import { sqliteDriver } from './sqlite-driver.ts';

// Another process on the same database: `node database-child.ts URL DEED [NUMBER]`. It prints one
// line of JSON when it reaches the point that the test waits for.

const [url = '', deed = '', number = '0'] = process.argv.slice(2);
const address = { url, sqliteDriver } as const;
const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);

async function withDatabase(work: () => Promise<void>): Promise<void> {
  const database = await openDatabase(address);
  await work();
  await database.close();
}

const deeds: Record<string, () => Promise<void>> = {
  /** Adds one to the same value NUMBER times, in eight loops at once. */
  increment: () =>
    withDatabase(async () => {
      const increment = () =>
        transaction(async () => {
          const item = await OutboxItem.findOne({ lock: true, rejectOnEmpty: true });
          await item.update({ attempts: item.attempts + 1 });
        });
      const loop = async () => {
        for (let done = 0; done < Number(number) / 8; done += 1) await increment();
      };
      await Promise.all(Array.from({ length: 8 }, loop));
      say('done');
    }),
  /** Keeps a write transaction open for NUMBER milliseconds. */
  hold: () =>
    withDatabase(() =>
      transaction(async () => {
        await OutboxItem.update({ kind: 'held' }, { where: {} });
        say('held');
        await pause(Number(number));
      }),
    ),
  migrate: async () => {
    const database = await openDatabase(address);
    say(await database.migrate());
    await database.close();
  },
  /** Migrates, and waits for a minute in the middle of the second migration. */
  migrateHalf: async () => {
    const link = await connect(address, { poolSize: 1, patience: 5_000, foreignKeys: false });
    await applyMigrations(link, [
      first,
      {
        name: '0002-half',
        async up({ queryInterface }) {
          await queryInterface.createTable('half', { id: 'INTEGER' });
          await queryInterface.addColumn('half', 'more', 'INTEGER');
          say('half');
          await pause(60_000);
        },
      },
    ]);
  },
};

await deeds[deed]?.();
