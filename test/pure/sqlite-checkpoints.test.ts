import { existsSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openNodeSqlite } from '../../src/database/node-sqlite.ts';

async function openTable() {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-checkpoints-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'idctl.db');
  const connection = await openNodeSqlite({ file, foreignKeys: true, patience: 5000 }, true);
  const run = (sql: string, values: unknown[] = []) => connection.run(sql, values);
  await run('CREATE TABLE words (word TEXT)');
  const insert = async (rows: number) => {
    await run('BEGIN IMMEDIATE');
    for (let row = 0; row < rows; row += 1)
      // A row fills a page of 4 KiB.
      await run('INSERT INTO words VALUES ($1)', ['x'.repeat(3000)]);
    await run('COMMIT');
    // Read before any other task of the event loop can run.
    return statSync(file).size;
  };
  return { file, connection, insert, size: () => statSync(file).size };
}

test('O15 a thread copies what a large transaction wrote, not the commit', async () => {
  const { file, connection, insert, size } = await openTable();
  expect(await insert(1500)).toBeGreaterThan(3_000_000);
  const before = size();
  expect(await insert(6000)).toBe(before);
  await expect.poll(size, { timeout: 20_000 }).toBeGreaterThan(before + 12_000_000);
  // Two large transactions, one while the thread copies.
  await insert(3000);
  await insert(3000);
  await connection.close();
  expect(size()).toBeGreaterThan(before + 24_000_000);
  expect(existsSync(`${file}-wal`)).toBe(false);
});

test('after the thread has ended, the next commit copies what is left', async () => {
  const { connection, insert } = await openTable();
  const before = await insert(3000);
  await expect.poll(() => insert(600), { timeout: 20_000 }).toBeGreaterThan(before);
  await connection.close();
});
