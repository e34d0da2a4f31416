import { StatementSync } from 'node:sqlite';
import pg from 'pg';
import { dialect } from './database.ts';

/** The functions through which every statement goes. */
const functions: [object, string][] =
  dialect === 'sqlite'
    ? [
        [StatementSync.prototype, 'all'],
        [StatementSync.prototype, 'run'],
      ]
    : [[pg.Client.prototype, 'query']];

/** The number of statements that the driver runs during the work. */
export async function countStatements(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const restore = functions.map(([owner, name]) => {
    const original = Reflect.get(owner, name);
    const counting = function (this: object, ...given: unknown[]): unknown {
      count += 1;
      return Reflect.apply(original, this, given);
    };
    Reflect.set(owner, name, counting);
    return () => Reflect.set(owner, name, original);
  });
  try {
    await work();
    return count;
  } finally {
    for (const back of restore) back();
  }
}
