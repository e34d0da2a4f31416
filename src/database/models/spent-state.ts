import type { Sequelize } from 'sequelize';
import { index, instantColumn, key, Row, table, textColumn } from './columns.ts';

/** A sign-in state that was already used (security S2). Kept until it would have expired. */
export class SpentState extends Row<SpentState> {
  declare id: string;
  declare expiresAt: Date;
}

/** Binds the model to the open database. */
export function initSpentState(sequelize: Sequelize): void {
  SpentState.init(
    {
      id: key(textColumn()),
      expiresAt: instantColumn(),
    },
    table(sequelize, 'spent_states', [index('spent_states_expires_at', ['expires_at'])]),
  );
}
