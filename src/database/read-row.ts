import { type Attributes, DataTypes, type Model, type ModelStatic } from 'sequelize';
import type { Columns } from './columns.ts';
import { dialectOfDatabase, selectAs } from './select.ts';

/** The columns of a model as SQL, and the kinds of those that are not text or numbers. */
interface Selected {
  list: string;
  kinds: Columns;
}

const known = new WeakMap<object, Selected>();

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
  const { list, kinds } = columnsOf(model);
  const [row] = await selectAs<object>(
    `SELECT ${list} FROM ${model.getTableName()} WHERE ${column} = $1${locking}`,
    [value],
    { prepared: true, columns: kinds },
  );
  if (row === undefined) return null;
  // The query selects the columns of the model.
  return model.build(row as Attributes<M>, { isNewRecord: false, raw: true });
}

function columnsOf(model: ModelStatic<Model>): Selected {
  const before = known.get(model);
  if (before !== undefined) return before;
  const attributes = Object.entries(model.getAttributes());
  const list = attributes.map(([name, { field }]) => `${field} AS "${name}"`).join(', ');
  const kinds = Object.fromEntries(
    attributes.flatMap(([name, { type }]) => {
      const kind = kindOf(type);
      return kind === null ? [] : [[name, kind] as const];
    }),
  );
  known.set(model, { list, kinds });
  return { list, kinds };
}

function kindOf(type: unknown) {
  if (type instanceof DataTypes.DATE) return 'time';
  if (type instanceof DataTypes.BOOLEAN) return 'flag';
  return type instanceof DataTypes.JSON ? 'json' : null;
}
