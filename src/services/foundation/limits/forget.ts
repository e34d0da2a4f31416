import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { Counter } from '../../../database/models/counter.ts';
import { subjectOf } from './limit.ts';

/** Resets every count of these subjects (`Limit.of`). Returns whether there was any. */
export async function forgetCounts(ctx: Context, of: string[]): Promise<boolean> {
  const theirs = { subject: of.map((each) => subjectOf(ctx, each)), used: { [Op.gt]: 0 } };
  const [ended] = await Counter.update({ used: 0, beganAt: 0 }, { where: theirs });
  return ended > 0;
}
