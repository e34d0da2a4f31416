import type { Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** A sign-in state that was used (security S2). It is kept until the state would have expired. */
export class SpentState extends Row<SpentState> {
  declare id: string;
  declare expiresAt: Date;
}

/** Binds the model to the open database. */
export function initSpentState(sequelize: Sequelize): void {
  SpentState.init(
    {
      id: column.key(column.string()),
      expiresAt: column.date(),
    },
    table(sequelize, 'spent_states', [column.index('spent_states_expires_at', ['expires_at'])]),
  );
}
