import { column, rowOf } from './columns.ts';

/** A sign-in state that was used (security S2). It is kept until the state would have expired. */
export class SpentState extends rowOf(
  'spent_states',
  {
    id: column.key(column.string()),
    expiresAt: column.date(),
  },
  () => [column.index('spent_states_expires_at', ['expires_at'])],
) {}
