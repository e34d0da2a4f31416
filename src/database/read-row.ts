import { type Attributes, DataTypes, type Model, type ModelStatic } from 'sequelize';
import type { Columns } from './columns.ts';
import { dialectOfDatabase, selectAs } from './select.ts';

/** The columns of a model as SQL. */
interface ModelColumns<M extends Model> {
  list: string;
  /** The kinds of the columns that are not text or numbers. */
  kinds: Columns;
  /** Builds the model; null if the row does not have its columns, or an outer join found no row. */
  build(row: object): M | null;
}

const known = new WeakMap<object, Map<string, object>>();

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
  const { list, kinds, build } = columnsAt(model);
  const [row] = await selectAs<object>(
    `SELECT ${list} FROM ${model.getTableName()} WHERE ${column} = $1${locking}`,
    [value],
    { prepared: true, columns: kinds },
  );
  return row === undefined ? null : build(row);
}

/** The columns of a model, for a query that joins several tables and calls this one `alias`. */
export function columnsAt<M extends Model>(model: ModelStatic<M>, alias = ''): ModelColumns<M> {
  const ofModel = known.get(model) ?? new Map<string, object>();
  known.set(model, ofModel);
  const columns = ofModel.get(alias) ?? describe(model, alias === '' ? '' : `${alias}.`);
  ofModel.set(alias, columns);
  // The entry was made for this model.
  return columns as ModelColumns<M>;
}

function describe<M extends Model>(model: ModelStatic<M>, prefix: string): ModelColumns<M> {
  const attributes = Object.entries(model.getAttributes());
  const [key = ''] = model.primaryKeyAttributes;
  return {
    list: attributes
      .map(([name, { field }]) => `${prefix}${field} AS "${prefix}${name}"`)
      .join(', '),
    kinds: Object.fromEntries(
      attributes.flatMap(([name, { type }]) => {
        const kind = kindOf(type);
        return kind === null ? [] : [[`${prefix}${name}`, kind] as const];
      }),
    ),
    build(row) {
      const found = new Map<string, unknown>(Object.entries(row));
      if ((found.get(`${prefix}${key}`) ?? null) === null) return null;
      const values = attributes.map(([name]) => [name, found.get(`${prefix}${name}`)] as const);
      // The query selects the columns of the model.
      const own = Object.fromEntries(values) as Attributes<M>;
      return model.build(own, { isNewRecord: false, raw: true });
    },
  };
}

function kindOf(type: unknown) {
  if (type instanceof DataTypes.DATE) return 'time';
  if (type instanceof DataTypes.BOOLEAN) return 'flag';
  return type instanceof DataTypes.JSON ? 'json' : null;
}
