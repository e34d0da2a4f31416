import { QueryTypes } from 'sequelize';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Organization } from '../../src/database/models/organization.ts';
import type { Database } from '../../src/database/open.ts';
import { execute, select } from '../../src/database/select.ts';
import { assertNoTransaction, transaction, unsynced } from '../../src/database/transaction.ts';
import { violatedUnique } from '../../src/database/unique.ts';
import { dialect, openFreshDatabase } from '../support/database.ts';

let database: Database;

beforeAll(async () => {
  database = await openFreshDatabase();
});

afterAll(() => database.close());

const create = (slug: string) =>
  Organization.create({ id: crypto.randomUUID(), slug, name: slug, createdAt: new Date() });

const slugs = async (start: string) =>
  (await Organization.findAll())
    .map((found) => found.slug)
    .filter((slug) => slug.startsWith(start));

test('40 transactions at once all commit without an error', async () => {
  const numbers = Array.from({ length: 40 }, (_, index) => index);
  await Promise.all(
    numbers.map((number) =>
      transaction(async () => {
        await create(`many-${number}`);
        await Organization.update(
          { name: `changed ${number}` },
          { where: { slug: `many-${number}` } },
        );
      }),
    ),
  );
  expect(await slugs('many-')).toHaveLength(40);
});

test('a nested call joins the transaction: both are committed, or neither is', async () => {
  const failing = transaction(async () => {
    await create('outer-1');
    await transaction(() => create('inner-1'));
    throw new Error('after the nested call');
  });
  await expect(failing).rejects.toThrow('after the nested call');
  expect([...(await slugs('outer')), ...(await slugs('inner'))]).toEqual([]);

  await transaction(async () => {
    await create('outer-2');
    await transaction(() => create('inner-2'));
  });
  expect([...(await slugs('outer')), ...(await slugs('inner'))]).toEqual(['outer-2', 'inner-2']);
});

test('a transaction sees its own writes; others see them after the commit', async () => {
  const written = Promise.withResolvers<void>();
  const looked = Promise.withResolvers<void>();
  const writing = transaction(async () => {
    await create('hidden');
    expect(await slugs('hidden')).toEqual(['hidden']);
    written.resolve();
    await looked.promise;
  });
  await written.promise;
  expect(await slugs('hidden')).toEqual([]);
  looked.resolve();
  await writing;
  expect(await slugs('hidden')).toEqual(['hidden']);
});

test('a throw rolls everything back, and the next transaction sees none of it', async () => {
  await expect(
    transaction(async () => {
      await create('thrown');
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  await transaction(async () => expect(await slugs('thrown')).toEqual([]));
});

test('after a statement has failed, no other statement of its transaction runs', async () => {
  await transaction(() => create('stored'));
  const ends: string[] = [];
  const failing = transaction(async () => {
    const together = await Promise.allSettled([create('stored'), create('beside')]);
    const [later] = await Promise.allSettled([create('after')]);
    ends.push(...[...together, later].map(({ status }) => status));
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(ends).toEqual(['rejected', 'rejected', 'rejected']);
});

test.runIf(dialect === 'sqlite')(
  'if SQLite runs out of space and rolls back, no other statement of the transaction is stored',
  async () => {
    const failing = transaction(async () => {
      await create('full-0');
      const [pages] = await select<{ page_count: number }>('PRAGMA page_count', []);
      await execute(`PRAGMA max_page_count = ${pages?.page_count}`, []);
      const large = { id: crypto.randomUUID(), slug: 'full-1', name: 'x'.repeat(1_000_000) };
      const both = [Organization.create({ ...large, createdAt: new Date() }), create('full-2')];
      await Promise.allSettled(both);
      await Promise.all(both);
    });
    await expect(failing).rejects.toMatchObject({ parent: { code: 'SQLITE_FULL' } });
    expect(await slugs('full-')).toEqual([]);
    await transaction(() => execute('PRAGMA max_page_count = 1073741823', []));
    await transaction(() => create('full-3'));
    expect(await slugs('full-')).toEqual(['full-3']);
  },
);

test('a statement after the end of its transaction is refused', async () => {
  const ended = Promise.withResolvers<void>();
  let late: Promise<unknown> = Promise.resolve();
  await transaction(async () => {
    late = ended.promise.then(() => create('late'));
  });
  ended.resolve();
  await expect(late).rejects.toThrow(/you can no longer use it/);
  expect(await slugs('late')).toEqual([]);
});

test('in tests a transaction refuses to end while one of its queries still runs', async () => {
  let floating: Promise<unknown> = Promise.resolve();
  const careless = transaction(async () => {
    floating = create('floating').catch(() => null);
  });
  await expect(careless).rejects.toThrow('was not awaited');
  await floating;
  expect(await slugs('floating')).toEqual([]);
});

test('only writes that may be lost in a power cut commit without waiting for the disk', async () => {
  const setting = dialect === 'sqlite' ? 'PRAGMA synchronous' : 'SHOW synchronous_commit';
  const level = async () =>
    (await database.sequelize.query(setting, { type: QueryTypes.SELECT }))[0];
  const [waiting, quick] =
    dialect === 'sqlite'
      ? // Here the wait follows the commit (test/database/sync.test.ts).
        [{ synchronous: 1 }, { synchronous: 1 }]
      : [{ synchronous_commit: 'on' }, { synchronous_commit: 'off' }];
  expect(await transaction(level)).toEqual(waiting);
  expect(await unsynced(level)).toEqual(quick);
  expect(await transaction(level)).toEqual(waiting);
  expect(await transaction(() => unsynced(level))).toEqual(waiting);
});

if (dialect === 'sqlite') {
  test('a write outside a transaction is refused with a message that says so', async () => {
    await expect(create('outside')).rejects.toThrow(
      'a write outside a transaction: wrap it in transaction()',
    );
    expect(await slugs('outside')).toEqual([]);
  });
}

test('a violated unique index is named by table and columns', async () => {
  await transaction(() => create('taken'));
  const violation = await transaction(() => create('taken')).catch(violatedUnique);
  expect(violation).toEqual({ table: 'organizations', columns: ['slug'] });
  expect(violatedUnique(new Error('something else'))).toBeNull();
});

test('assertNoTransaction throws inside a transaction and nowhere else', async () => {
  assertNoTransaction('asking the resolver');
  await transaction(async () => {
    expect(() => assertNoTransaction('asking the resolver')).toThrow(
      'asking the resolver inside a transaction',
    );
  });
});
