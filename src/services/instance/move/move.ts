import type { z } from 'zod';
import { type App, openContext } from '../../../context.ts';
import type { Address } from '../../../database/connect.ts';
import { saysMovedTo, shownAddress, unfinishedMark } from '../../../database/marks.ts';
import { connectPlain, type PlainConnection } from '../../../database/plain-connection.ts';
import { databaseRefusal } from '../../../database/refusals.ts';
import { servedDatabase } from '../../../database/select.ts';
import { listTables, type Table } from '../../../database/tables.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { copyTable, sumTable } from './copy.ts';
import type { foreseenView, movedView } from './schema.ts';
import { countTables, holdSource, instanceIn, type Source, statementPatience } from './source.ts';
import {
  claimTarget,
  isHalfCopy,
  removeMark,
  requireEmpty,
  stillMarked,
  storeCopy,
} from './target.ts';

// The order makes the move safe to interrupt. The copy is complete and on disk, then the source is
// marked as moved, then the copy is released. Until the source is marked, it is the instance.

/** A move, and what it needs from its caller. */
export interface Moving {
  from: Address;
  to: Address;
  /** The operator's name, for the event. */
  operator: string;
  clock: () => Date;
  /** Opens an instance under the same key. A process can have one open at a time. */
  open(database: Address, migrate: 'refuse-pending' | 'already'): Promise<App>;
  /** Called while rows are copied and compared: each row counts twice. */
  progress(now: { table: string; done: number; total: number }): void;
}

type Moved = z.output<typeof movedView>;

/**
 * Moves the instance into an empty database. A second run finishes an interrupted one. Refuses
 * `conflict` while a process uses the source, or for a database that is not empty.
 */
export async function moveDatabase(moving: Moving): Promise<Moved> {
  try {
    const known = await examineSource(moving);
    return await (known.moved === null ? move(moving, known) : finish(moving, known));
  } catch (error) {
    throw databaseRefusal(error) ?? error;
  }
}

/** What a move would copy, and every refusal that it would meet now. Writes nothing. */
export async function foreseeMove(moving: Moving): Promise<z.output<typeof foreseenView>> {
  const { from, to } = moving;
  const { tables, mark, moved } = await examineSource(moving);
  if (moved !== null) throw moved;
  const refusals: z.output<typeof foreseenView>['refusals'] = [];
  const tried = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      const refusal = databaseRefusal(error);
      if (refusal === null) throw error;
      const { code, message, hint = null } = refusal;
      refusals.push({ code, message, hint });
    }
  };
  await tried(async () => (await holdSource(from, tables, moving.clock())).release());
  await tried(() => requireEmpty(to, mark));
  const counted = await onSource(from, (connection) => countTables(connection, tables));
  return { ...addresses(moving), rows: total(counted), tables: counted, refusals };
}

interface Known {
  tables: Table[];
  /** The mark of the copy until it is complete. */
  mark: string;
  /** The refusal of a source that an earlier run has marked; null for any other. */
  moved: Refusal | null;
}

/** Checks that the source opens under its key, and has this release's schema. */
async function examineSource({ from, to, open }: Moving): Promise<Known> {
  let moved: Refusal | null = null;
  try {
    await (await open(from, 'refuse-pending')).close();
  } catch (error) {
    if (!(error instanceof Refusal) || !saysMovedTo(error, to)) throw error;
    moved = error;
  }
  const mark = unfinishedMark(await onSource(from, instanceIn), from);
  return { tables: listTables(servedDatabase()), mark, moved };
}

async function move(moving: Moving, { tables, mark }: Known): Promise<Moved> {
  const { from, to, open, clock } = moving;
  await requireEmpty(to, mark);
  const source = await holdSource(from, tables, clock());
  try {
    const copied = await copyAll(moving, source, { tables, mark });
    // Proves that the copy opens under the key before anything depends on it.
    const app = await open(to, 'already');
    try {
      await source.markMoved(to);
      await release(moving, app, { mark, rows: total(copied) });
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
): Promise<Moved['tables']> {
  const totalRows = 2 * total(await countTables(from, tables));
  let done = 0;
  const target = await claimTarget(to, { mark, tables });
  try {
    const copied: Moved['tables'] = [];
    for (const table of tables) {
      const told = (rows: number) => {
        done += rows;
        progress({ table: table.name, done, total: totalRows });
      };
      copied.push(await copyTable({ from, to: target, table, progress: told }));
    }
    await storeCopy(target, { mark, now: clock() });
    return copied;
  } finally {
    await target.close();
  }
}

/** An earlier run has marked the source, so its copy is complete. */
async function finish(moving: Moving, { tables, mark }: Known): Promise<Moved> {
  const { from, to, open } = moving;
  const copied = await onSource(from, (connection) => sumTables(connection, tables));
  const half = await isHalfCopy(to, mark);
  const app = await open(to, half ? 'already' : 'refuse-pending');
  try {
    if (half) await release(moving, app, { mark, rows: total(copied) });
  } finally {
    await app.close();
  }
  return { ...addresses(moving), rows: total(copied), tables: copied };
}

/** From here on, the copy is the instance. */
async function release(
  moving: Moving,
  app: App,
  { mark, rows }: { mark: string; rows: number },
): Promise<void> {
  const ctx = openContext(app, { kind: 'operator', name: moving.operator });
  await transaction(async () => {
    if (!(await stillMarked(mark))) return;
    await removeMark(mark);
    const data = { from: shownAddress(moving.from), rows };
    await recordEvent(ctx, { kind: 'database.moved', data });
  });
}

async function sumTables(connection: PlainConnection, tables: Table[]): Promise<Moved['tables']> {
  const sums: Moved['tables'] = [];
  for (const table of tables) sums.push(await sumTable(connection, table));
  return sums;
}

async function onSource<T>(
  from: Address,
  work: (connection: PlainConnection) => Promise<T>,
): Promise<T> {
  const connection = await connectPlain(from, statementPatience);
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

function addresses({ from, to }: Moving) {
  return { from: shownAddress(from), to: shownAddress(to) };
}

function total(tables: { rows: number }[]): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}
