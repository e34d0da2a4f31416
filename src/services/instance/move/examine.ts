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

/** A move, with everything that the caller provides. */
export interface Moving {
  from: Address;
  to: Address;
  /** The operator's name, for the event. */
  operator: string;
  clock: () => Date;
  /** Whether to copy again to a new database that is empty, though an earlier move completed. */
  again: boolean;
  /** Opens an instance with the same key. A process can have only one instance open. */
  open(database: Address, migrate: 'refuse-pending' | 'already'): Promise<App>;
  /** Called while rows are copied, and while they are compared. So each row counts twice. */
  progress(now: {
    doing: 'copying' | 'comparing';
    table: string;
    done: number;
    total: number;
  }): void;
}

/** Facts about the source, collected before anything is written. */
export interface Known {
  tables: Table[];
  /** The mark of the copy until the copy is released. */
  mark: UnfinishedMark;
  /** The refusal if an earlier run has marked the source as moved; otherwise null. */
  moved: Refusal | null;
}

/** Checks that the source opens with its key, and has the schema of this release. */
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
 * Whether an earlier run has completed this move. Refuses a target that this move must not write
 * to.
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

/** Runs the work on a connection to the source. */
export function onSource<T>(
  from: Address,
  work: (connection: PlainConnection) => Promise<T>,
): Promise<T> {
  return onPlain(from, statementPatience, work);
}

function movedElsewhere({ to }: MovedMark): Refusal {
  return new Refusal('database_moved', `This database was moved to ${to}.`, {
    hint: {
      technical: `If that move was interrupted, move to ${to} again. Otherwise set database.url to ${to}.`,
    },
    extra: { movedTo: to },
  });
}

function copyGone(to: Address): Refusal {
  const shown = shownAddress(to);
  return new Refusal('conflict', `This database was moved to ${shown}, which is empty now.`, {
    hint: 'To copy it there again, add --yes. Changes made in the new database since that move are lost.',
  });
}

/** Both addresses, without passwords. */
export function addresses({ from, to }: Moving) {
  return { from: shownAddress(from), to: shownAddress(to) };
}

/** The number of rows in all of these tables. */
export function total(tables: { rows: number }[]): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}
