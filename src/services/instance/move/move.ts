import type { z } from 'zod';
import { type App, openContext } from '../../../context.ts';
import { shownAddress, type UnfinishedMark } from '../../../database/marks.ts';
import { databaseRefusal } from '../../../database/refusals.ts';
import { servedDatabase } from '../../../database/select.ts';
import type { Table } from '../../../database/tables.ts';
import { transactionOn } from '../../../database/transaction.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { type CopiedTable, compareTable, copyTable, sumTable } from './copy.ts';
import {
  addresses,
  examineSource,
  examineTarget,
  type Known,
  type Moving,
  onSource,
  total,
} from './examine.ts';
import { fullTarget } from './look.ts';
import type { movedView } from './schema.ts';
import { countTables, holdSource, type Source } from './source.ts';
import { claimTarget, removeMark, storeCopy } from './target.ts';

// This order makes the move safe to interrupt. First the copy is completed, synced to disk and
// compared. Then the source is marked as moved, and then the copy is released. Until the
// source is marked, it remains the live instance, and an interrupted move starts over.

type Moved = z.output<typeof movedView>;

/**
 * Moves the instance into an empty database. Another run finishes an interrupted move. Refuses
 * with `conflict` if a process uses the source, or if the target is not empty.
 */
export async function moveDatabase(moving: Moving): Promise<Moved> {
  try {
    const known = await examineSource(moving);
    const { released } = await examineTarget(moving, known);
    if (released) return await tellReleased(moving, known);
    return await move(moving, known);
  } catch (error) {
    throw databaseRefusal(error) ?? error;
  }
}

async function move(moving: Moving, { tables, mark, moved }: Known): Promise<Moved> {
  const { from, to, open, clock } = moving;
  const source = await holdSource(from, tables, clock());
  try {
    const copied = await copyAll(moving, source, { tables, mark });
    // Checks that the copy opens with the key, before the source is marked.
    const app = await open(to, 'already');
    try {
      const markSource = () => source.markMoved({ move: mark.move, to: shownAddress(to) });
      const done = moved === null ? markSource : () => Promise.resolve();
      await release(moving, app, { mark, rows: total(copied), done });
    } finally {
      await app.close();
    }
    return { ...addresses(moving), rows: total(copied), tables: copied };
  } finally {
    await source.release();
  }
}

async function copyAll(
  { to, clock, progress }: Moving,
  { connection: from }: Source,
  { tables, mark }: Pick<Known, 'tables' | 'mark'>,
): Promise<CopiedTable[]> {
  const totalRows = 2 * total(await countTables(from, tables));
  let done = 0;
  const target = await claimTarget(to, { mark, tables });
  try {
    const each = (doing: 'copying' | 'comparing', table: Table) => ({
      from,
      to: target,
      table,
      progress(rows: number) {
        done += rows;
        progress({ doing, table: table.name, done, total: totalRows });
      },
    });
    const copied: CopiedTable[] = [];
    for (const table of tables) copied.push(await copyTable(each('copying', table)));
    await storeCopy(target, { mark, now: clock() });
    for (const [at, table] of tables.entries()) {
      const sum = copied[at];
      if (sum !== undefined) await compareTable(each('comparing', table), sum);
    }
    return copied;
  } catch (error) {
    throw fullTarget(to, error);
  } finally {
    await target.close();
  }
}

/** The result of a move that an earlier run has completed. */
async function tellReleased(moving: Moving, { tables }: Known): Promise<Moved> {
  const { from, to, open } = moving;
  const copied = await onSource(from, async (connection) => {
    const sums: CopiedTable[] = [];
    for (const table of tables) sums.push(await sumTable(connection, table));
    return sums;
  });
  await (await open(to, 'refuse-pending')).close();
  return { ...addresses(moving), rows: total(copied), tables: copied };
}

/**
 * Releases the copy: from here on, the copy is the instance. `done` marks the source inside the
 * transaction, which excludes other moves to the copy.
 */
async function release(
  moving: Moving,
  app: App,
  { mark, rows, done }: { mark: UnfinishedMark; rows: number; done: () => Promise<void> },
): Promise<void> {
  const ctx = openContext(app, { kind: 'operator', name: moving.operator });
  // `transaction` would refuse a marked database.
  await transactionOn(servedDatabase(), async () => {
    await removeMark(mark);
    const data = { from: shownAddress(moving.from), rows, move: mark.move };
    await recordEvent(ctx, { kind: 'database.moved', data });
    await done();
  });
}
