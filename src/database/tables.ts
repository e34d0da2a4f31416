import type { Model, ModelStatic, Sequelize } from 'sequelize';

/** The type of a column's values. Each type has one stored form per database. */
export type ColumnKind =
  | 'text'
  | 'uuid'
  | 'time'
  | 'flag'
  | 'integer'
  | 'number'
  | 'json'
  | 'jsonb';

/** A table as the models declare it. */
export interface Table {
  name: string;
  columns: { name: string; kind: ColumnKind }[];
  /** The columns of the primary key. */
  key: string[];
}

// The kinds by Sequelize's name for the type.
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

/** All tables with a model. A table comes after the tables that it refers to. */
export function listTables(sequelize: Sequelize): Table[] {
  const models = new Map(
    Object.values(sequelize.models).map((model) => [String(model.getTableName()), model]),
  );
  const listed = new Map<string, Table>();
  const list = (name: string, children: readonly string[]) => {
    if (listed.has(name)) return;
    const model = models.get(name);
    if (model === undefined || children.includes(name))
      throw new Error(`circular references: ${[...children, name].join(' refers to ')}`);
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
      throw new Error('a reference does not name its table by a string');
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
