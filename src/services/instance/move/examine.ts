import { randomUUID } from 'node:crypto';
import type { App } from '../../../context.ts';
import type { Address } from '../../../database/connect.ts';
import {
  type MovedMark,
  movedRow,
  shownAddress,
  type UnfinishedMark,
} from '../../../database/marks.ts';
import { onPlain, type PlainConnection } from '../../../database/plain-connection.ts';
import { servedDatabase } from '../../../database/select.ts';
import { listTables, type Table } from '../../../database/tables.ts';
import { Refusal } from '../../../errors.ts';
import { findCopy, requireTarget } from './look.ts';
import { identifyInstance, statementPatience } from './source.ts';

/** A move, and what it needs from its caller. */
export interface Moving {
  from: Address;
  to: Address;
  /** The operator's name, for the event. */
  operator: string;
  clock: () => Date;
  /** Copies a database that was moved before into the new one again, if that is empty now. */
  again: boolean;
  /** Opens an instance under the same key. A process can have one open at a time. */
  open(database: Address, migrate: 'refuse-pending' | 'already'): Promise<App>;
  /** Called while rows are copied, then compared: each row counts twice. */
  progress(now: {
    doing: 'copying' | 'comparing';
    table: string;
    done: number;
    total: number;
  }): void;
}

/** What is known of both databases before anything is written. */
export interface Known {
  tables: Table[];
  /** The mark of the copy until it is complete. */
  mark: UnfinishedMark;
  /** The refusal of a source that an earlier run has marked; null for any other. */
  moved: Refusal | null;
}

/** Checks that the source opens under its key, and has this release's schema. */
export async function examineSource({ from, to, open }: Moving): Promise<Known> {
  let refusal: Refusal | null = null;
  try {
    await (await open(from, 'refuse-pending')).close();
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'database_moved') throw error;
    refusal = error;
  }
  const { source, moved } = await onSource(from, (connection) =>
    identifyInstance(connection, from),
  );
  if (moved !== null && movedRow(moved) !== movedRow({ ...moved, to: shownAddress(to) }))
    throw movedElsewhere(moved);
  const mark = { move: moved?.move ?? randomUUID(), source, from: shownAddress(from) };
  return { tables: listTables(servedDatabase()), mark, moved: refusal };
}

/**
 * Whether an earlier run has completed this move. Refuses a new database that this move may not
 * write.
 */
export async function examineTarget(
  { to, again }: Moving,
  { mark, moved }: Known,
): Promise<{ released: boolean }> {
  if (moved === null) {
    await requireTarget(to, mark);
    return { released: false };
  }
  const copy = await findCopy(to, mark.move);
  if (copy === 'none' && !again) throw copyGone(to);
  return { released: copy === 'released' };
}

/** Runs the work on a connection of the source. */
export function onSource<T>(
  from: Address,
  work: (connection: PlainConnection) => Promise<T>,
): Promise<T> {
  return onPlain(from, statementPatience, work);
}

function movedElsewhere({ to }: MovedMark): Refusal {
  return new Refusal('database_moved', `This database was moved to ${to}.`, {
    hint: `If that move was interrupted, name ${to} again. Otherwise set database.url to it.`,
    extra: { movedTo: to },
  });
}

function copyGone(to: Address): Refusal {
  const shown = shownAddress(to);
  return new Refusal('conflict', `This database was moved to ${shown}, which is empty now.`, {
    hint: 'To copy it there again, add --yes. Changes made there since that move are not in it.',
  });
}

/** Both addresses without their passwords. */
export function addresses({ from, to }: Moving) {
  return { from: shownAddress(from), to: shownAddress(to) };
}

/** The number of rows of all these tables. */
export function total(tables: { rows: number }[]): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}
