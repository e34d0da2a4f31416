import type { Model, ModelStatic, Sequelize } from 'sequelize';

/** The kind of a column's values; each kind has one stored form in each database. */
export type ColumnKind =
  | 'text'
  | 'uuid'
  | 'time'
  | 'flag'
  | 'integer'
  | 'number'
  | 'json'
  | 'jsonb';

/** A table, as the models declare it. */
export interface Table {
  name: string;
  columns: { name: string; kind: ColumnKind }[];
  /** The columns of its primary key. */
  key: string[];
}

// By Sequelize's name of the type.
const kinds: Record<string, ColumnKind> = {
  TEXT: 'text',
  UUID: 'uuid',
  DATE: 'time',
  BOOLEAN: 'flag',
  INTEGER: 'integer',
  'DOUBLE PRECISION': 'number',
  JSON: 'json',
  JSONB: 'jsonb',
};

/** Every table with a model; a table stands after those that it refers to. */
export function listTables(sequelize: Sequelize): Table[] {
  const models = new Map(
    Object.values(sequelize.models).map((model) => [String(model.getTableName()), model]),
  );
  const listed = new Map<string, Table>();
  const list = (name: string, children: readonly string[]) => {
    if (listed.has(name)) return;
    const model = models.get(name);
    if (model === undefined || children.includes(name))
      throw new Error(`no order of tables: ${[...children, name].join(' refers to ')}`);
    for (const parent of parentsOf(model)) list(parent, [...children, name]);
    listed.set(name, tableOf(name, model));
  };
  for (const name of [...models.keys()].sort()) list(name, []);
  return [...listed.values()];
}

function parentsOf(model: ModelStatic<Model>): string[] {
  const parents = Object.values(model.getAttributes()).flatMap(({ references }) => {
    const named = typeof references === 'string' ? references : references?.model;
    if (named !== undefined && typeof named !== 'string')
      throw new Error('a reference names its table otherwise than by a string');
    return named === undefined ? [] : [named];
  });
  return [...new Set(parents)];
}

function tableOf(name: string, model: ModelStatic<Model>): Table {
  const attributes = Object.entries(model.getAttributes());
  const columns = attributes.map(([attribute, { field = attribute, type, primaryKey }]) => {
    const kind = kinds[typeof type === 'string' ? type : type.key];
    if (kind === undefined) throw new Error(`${name}.${field} has a type that is not copied`);
    return { name: field, kind, primaryKey: primaryKey === true };
  });
  return {
    name,
    columns: columns.map(({ name: column, kind }) => ({ name: column, kind })),
    key: columns.filter(({ primaryKey }) => primaryKey).map((column) => column.name),
  };
}
