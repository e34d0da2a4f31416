import { Refusal } from '../../src/errors.ts';
import { answerQuestions } from '../../src/host/thread.ts';

// The program of a thread, for a test.

export interface Question {
  wants: 'echo' | 'refusal' | 'bug' | 'end' | 'no end';
  /** Counts while the thread computes. */
  counter?: Int32Array<SharedArrayBuffer>;
}

answerQuestions(({ wants, counter = new Int32Array(new SharedArrayBuffer(4)) }: Question) => {
  switch (wants) {
    case 'refusal':
      throw new Refusal('overloaded', 'No.', {
        ...{ hint: 'Wait.', retryAfter: 7, extra: { stage: 'response' } },
        ...{ failure: { stage: 'response', reason: 'expired' }, cause: new Error('why') },
      });
    case 'bug':
      throw new RangeError('a bug');
    case 'end':
      return process.exit(1);
    case 'no end':
      for (;;) Atomics.add(counter, 0, 1);
    default:
      return wants;
  }
});
