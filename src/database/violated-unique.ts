import { UniqueConstraintError } from 'sequelize';

/** The unique index that a write ran into. */
export interface UniqueViolation {
  table: string;
  columns: string[];
}

/**
 * The table and columns of the unique index that refused the write, or null for any other error. On PostgreSQL the
 * violation has aborted the transaction, so catch it around `transaction()`, not inside.
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
