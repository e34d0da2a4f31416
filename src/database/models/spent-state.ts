import { column, rowOf } from './columns.ts';

/** A sign-in state that was already used (security S2). Kept until it would have expired. */
export class SpentState extends rowOf(
  'spent_states',
  {
    id: column.key(column.string()),
    expiresAt: column.date(),
  },
  () => [column.index('spent_states_expires_at', ['expires_at'])],
) {}
