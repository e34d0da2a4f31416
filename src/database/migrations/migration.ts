import type { QueryInterface, Sequelize } from 'sequelize';

/** One step of the schema; forward only, and never changed once released. */
export interface Migration {
  /** As in its file's name; what is recorded in the database. */
  name: string;
  /** Runs inside its own transaction, which every query made here joins. Models never appear here. */
  up(room: {
    queryInterface: QueryInterface;
    sequelize: Sequelize;
    dialect: 'sqlite' | 'postgres';
  }): Promise<void>;
}
