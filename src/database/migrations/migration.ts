import type { QueryInterface, Sequelize } from 'sequelize';

/** One step of the schema. Forward only, and never changed once released. */
export interface Migration {
  /** The name recorded in the database. It never changes. */
  name: string;
  /** Runs in its own transaction, which all its queries join. It must never use models. */
  up(room: {
    queryInterface: QueryInterface;
    sequelize: Sequelize;
    dialect: 'sqlite' | 'postgres';
  }): Promise<void>;
}
