import {
  DataTypes,
  type IndexesOptions,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type ModelAttributeColumnOptions,
  type Sequelize,
} from 'sequelize';

// Each call creates a new object, because Sequelize modifies the object that it gets.

type Column = ModelAttributeColumnOptions;

/** A model whose declared fields are its columns. */
export abstract class Row<Of extends Model> extends Model<
  InferAttributes<Of>,
  InferCreationAttributes<Of>
> {}

/** Required columns. `optional`, `key` and `withDefault` change them. */
export const string = (): Column => ({ type: DataTypes.TEXT, allowNull: false });
export const uuid = (): Column => ({ type: DataTypes.UUID, allowNull: false });
export const date = (): Column => ({ type: DataTypes.DATE, allowNull: false });
export const flag = (): Column => ({ type: DataTypes.BOOLEAN, allowNull: false });
export const integer = (): Column => ({ type: DataTypes.INTEGER, allowNull: false });
export const number = (): Column => ({ type: DataTypes.DOUBLE, allowNull: false });
export const json = (): Column => ({ type: DataTypes.JSON, allowNull: false });

/**
 * A reference to a row of another table. When that row is deleted, this row is deleted too, or the
 * reference is set to null.
 */
export const to = (model: string, onDelete: 'CASCADE' | 'SET NULL' = 'CASCADE'): Column => ({
  ...uuid(),
  references: { model, key: 'id' },
  onDelete,
});

/** Makes the column nullable, with null as the default. */
export const optional = (column: Column): Column => ({
  ...column,
  allowNull: true,
  defaultValue: null,
});

/** Makes the column the primary key, or a part of it. */
export const key = (column: Column = uuid()): Column => ({ ...column, primaryKey: true });

/** Gives the column a default value. */
export const withDefault = (column: Column, defaultValue: unknown): Column => ({
  ...column,
  defaultValue,
});

/** An index over columns, by their database names. */
export const index = (
  name: string,
  fields: NonNullable<IndexesOptions['fields']>,
  where?: IndexesOptions['where'],
): IndexesOptions => ({
  name,
  fields,
  ...(where && { where }),
});

/** An index over values that must be unique. */
export const unique = (...of: Parameters<typeof index>): IndexesOptions => ({
  ...index(...of),
  unique: true,
});

/** The table options of a model, with its indexes. */
export const table = (sequelize: Sequelize, tableName: string, indexes: IndexesOptions[] = []) => ({
  sequelize,
  tableName,
  underscored: true,
  timestamps: false,
  indexes,
});
