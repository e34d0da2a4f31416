import { Refusal } from '../errors.ts';

/**
 * Runs one piece of work at a time, in the order of asking. Refuses `database_busy` to a caller
 * that has waited longer than `patience` milliseconds.
 */
export function takeTurns(patience: number): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<void> = Promise.resolve();
  return async (work) => {
    const before = last;
    const mine = Promise.withResolvers<void>();
    last = before.then(() => mine.promise);
    try {
      await within(before, patience);
      return await work();
    } finally {
      mine.resolve();
    }
  };
}

async function within(turn: Promise<void>, patience: number): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(
      new Refusal('database_busy', 'The database has too much to write at the moment.', {
        hint: 'Try again in a few seconds.',
        retryAfter: 2,
      }),
    );
  }, patience);
  try {
    await Promise.race([turn, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
