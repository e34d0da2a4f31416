import { UniqueConstraintError } from 'sequelize';
import { Refusal, type RefusalCode } from '../errors.ts';
import type { Next } from '../next.ts';
import { databaseRefusal } from './refusals.ts';

interface DuplicateRefusal {
  /** The default is `already_exists`. */
  code?: RefusalCode;
  message: string;
  hint?: Next | undefined;
}

/** The result of the write. A violated unique index becomes this refusal. */
export async function refusingDuplicate<T>(
  writing: Promise<T>,
  refusal: DuplicateRefusal,
): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    if (violatedUnique(error) === null) throw error;
    const { code = 'already_exists', message, hint } = refusal;
    throw new Refusal(code, message, { hint, cause: error });
  }
}

/**
 * Runs the work. Runs it once again if another transaction has just written the same row, or has
 * removed a row that the work refers to.
 */
export async function retryOnceWhenOvertaken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const written = error instanceof Refusal ? error.cause : error;
    const removed = !(error instanceof Refusal) && databaseRefusal(error)?.code === 'not_found';
    if (violatedUnique(written) === null && !removed) throw error;
    return work();
  }
}

interface UniqueViolation {
  table: string;
  columns: string[];
}

/**
 * The table and columns of a violated unique index; null for any other error. On PostgreSQL the
 * violation aborts the transaction, so catch the error around `transaction()`, not inside.
 */
export function violatedUnique(error: unknown): UniqueViolation | null {
  if (!(error instanceof UniqueConstraintError)) return null;
  return fromPostgres(error.parent) ?? fromSqlite(error.parent.message);
}

function fromPostgres(parent: Error): UniqueViolation | null {
  if (!('table' in parent && typeof parent.table === 'string')) return null;
  const detail = 'detail' in parent ? String(parent.detail) : '';
  const columns = /^Key \(([^)]*)\)=/.exec(detail)?.[1] ?? '';
  return { table: parent.table, columns: columns.split(', ') };
}

function fromSqlite(message: string): UniqueViolation | null {
  const columns = /UNIQUE constraint failed: (.*)/.exec(message)?.[1]?.split(', ') ?? [];
  const table = columns[0]?.split('.')[0];
  if (table === undefined) return null;
  return { table, columns: columns.map((column) => column.slice(table.length + 1)) };
}
