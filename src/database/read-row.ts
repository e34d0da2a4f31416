import { type Attributes, DataTypes, type Model, type ModelStatic } from 'sequelize';
import { dialectOfDatabase, select } from './select.ts';

const columns = new WeakMap<object, string>();

/**
 * The row with this value in a column, as a model, or null. For reads at every sign-in: the ORM
 * would generate the SQL each time, and on SQLite first query the table's columns.
 */
export async function readRow<M extends Model>(
  model: ModelStatic<M>,
  [column, value]: [string, string],
  lock?: string,
): Promise<M | null> {
  // SQLite has a single writer, and cannot lock rows.
  const locking = lock === undefined || dialectOfDatabase() === 'sqlite' ? '' : ` FOR ${lock}`;
  const [row] = await select<Record<string, unknown>>(
    `SELECT ${columnsOf(model)} FROM ${model.getTableName()} WHERE ${column} = $1${locking}`,
    [value],
    { prepared: true },
  );
  if (row === undefined) return null;
  // The query selects the columns of the model.
  const values = dialectOfDatabase() === 'sqlite' ? parsed(model, row) : row;
  return model.build(values as Attributes<M>, { isNewRecord: false, raw: true });
}

function columnsOf(model: ModelStatic<Model>): string {
  const known = columns.get(model);
  if (known !== undefined) return known;
  const attributes = Object.entries(model.getAttributes());
  const list = attributes.map(([name, { field }]) => `${field} AS "${name}"`).join(', ');
  columns.set(model, list);
  return list;
}

/** Converts a row of SQLite, which stores times as text and flags as numbers. */
function parsed(model: ModelStatic<Model>, row: Record<string, unknown>): object {
  const attributes: Record<string, { type: unknown }> = model.getAttributes();
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      const type = attributes[name]?.type;
      if (value !== null && type instanceof DataTypes.DATE) return [name, new Date(String(value))];
      if (type instanceof DataTypes.BOOLEAN) return [name, Boolean(value)];
      return [name, value];
    }),
  );
}
