import {
  DataTypes,
  type IndexesOptions,
  Model,
  type ModelAttributeColumnOptions,
  type ModelStatic,
  type Sequelize,
} from 'sequelize';

/** A column: the type of its values, and the type that a new row takes. */
interface Column<Value, Creation = Value> extends ModelAttributeColumnOptions {
  /** For the compiler only. */
  types?: { value: Value; given: Creation };
}
type Columns = Record<string, Column<unknown>>;
type Values<Of extends Columns> = {
  [Name in keyof Of]: Of[Name] extends Column<infer Value, unknown> ? Value : never;
};
type Creation<Of extends Columns> = {
  [Name in keyof Of]: Of[Name] extends Column<unknown, infer Value> ? Value : never;
};

interface Definition<Of extends Columns> {
  tableName: string;
  columns: Of;
  indexes: (dialect: string) => IndexesOptions[];
}
type RowModel<Of extends Columns> = ModelStatic<Model<Values<Of>, Creation<Of>> & Values<Of>> & {
  definition: Definition<Of>;
};

/** The base class of a model: its table, its columns and its indexes. */
export function rowOf<Of extends Columns>(
  tableName: string,
  columns: Of,
  indexes: Definition<Of>['indexes'] = () => [],
): RowModel<Of> {
  const definition = { tableName, columns, indexes };
  // Once bound, Sequelize gives a row a property for each column. The compiler cannot see this.
  return Object.assign(class extends Model {}, { definition }) as unknown as RowModel<Of>;
}

/** Binds the model to the open database. */
export function bind(
  model: ModelStatic<Model> & { definition: Definition<Columns> },
  sequelize: Sequelize,
): void {
  const { tableName, columns, indexes } = model.definition;
  // Sequelize changes the objects that it is given.
  const own = Object.entries(columns).map(([name, column]) => [name, { ...column }]);
  model.init(Object.fromEntries(own), {
    sequelize,
    tableName,
    underscored: true,
    timestamps: false,
    indexes: indexes(sequelize.getDialect()),
  });
}

// These columns are required. `optional`, `key` and `withDefault` change a column.
const string = <Value extends string = string>(): Column<Value> => ({
  type: DataTypes.TEXT,
  allowNull: false,
});
const uuid = (): Column<string> => ({ type: DataTypes.UUID, allowNull: false });
const date = (): Column<Date> => ({ type: DataTypes.DATE, allowNull: false });
const flag = (): Column<boolean> => ({ type: DataTypes.BOOLEAN, allowNull: false });
const integer = (): Column<number> => ({ type: DataTypes.INTEGER, allowNull: false });
const number = (): Column<number> => ({ type: DataTypes.DOUBLE, allowNull: false });
const json = <Value>(): Column<Value> => ({ type: DataTypes.JSON, allowNull: false });

/**
 * A reference to a row of another table. When that row is deleted, this row is deleted too, or the
 * reference is set to null.
 */
const to = (model: string, onDelete: 'CASCADE' | 'SET NULL' = 'CASCADE'): Column<string> => ({
  ...uuid(),
  references: { model, key: 'id' },
  onDelete,
});

/** Makes the column nullable, with null as the default. */
const optional = <Value>(column: Column<Value>): Column<Value | null> => ({
  ...column,
  allowNull: true,
  defaultValue: null,
});

/** Makes the column the primary key, or a part of it. */
function key(): Column<string>;
function key<Value>(column: Column<Value>): Column<Value>;
function key(column: Column<unknown> = uuid()): Column<unknown> {
  return { ...column, primaryKey: true };
}

/** Gives the column a default value. */
const withDefault = <Value>(
  column: Column<Value>,
  defaultValue: Value,
): Column<Value, Value | undefined> => ({ ...column, defaultValue });

/** An index over columns, by their database names. */
const index = (
  name: string,
  fields: NonNullable<IndexesOptions['fields']>,
  where?: IndexesOptions['where'],
): IndexesOptions => ({
  name,
  fields,
  ...(where && { where }),
});

/** An index over values that must be unique. */
const unique = (...of: Parameters<typeof index>): IndexesOptions => ({
  ...index(...of),
  unique: true,
});

/** The functions with which models declare their columns and indexes. */
export const column = {
  string,
  uuid,
  date,
  flag,
  integer,
  number,
  json,
  to,
  optional,
  key,
  withDefault,
  index,
  unique,
};
