import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Refusal } from '../../src/errors.ts';
import { createThread } from '../../src/host/thread.ts';
import type { Question } from '../support/thread-program.ts';

const program = new URL('../support/thread-program.ts', import.meta.url);

test('a refusal comes out of a thread whole, and a bug stays a bug', async () => {
  const thread = createThread<Question, string>(program);
  expect(await thread.ask({ wants: 'echo' })).toBe('echo');
  const refusal: unknown = await thread.ask({ wants: 'refusal' }).catch((error) => error);
  expect(refusal).toBeInstanceOf(Refusal);
  expect(refusal).toMatchObject({
    ...{ code: 'overloaded', message: 'No.', hint: 'Wait.', retryAfter: 7 },
    ...{ extra: { stage: 'response' }, failure: { stage: 'response', reason: 'expired' } },
    cause: { message: 'why' },
  });
  await expect(thread.ask({ wants: 'bug' })).rejects.toThrow(RangeError);
});

test('if a thread ends, its questions fail, and the next one starts another thread', async () => {
  const thread = createThread<Question, string>(program);
  const failing = [thread.ask({ wants: 'end' }), thread.ask({ wants: 'echo' })];
  for (const { status } of await Promise.allSettled(failing)) expect(status).toBe('rejected');
  expect(await thread.ask({ wants: 'echo' })).toBe('echo');
});

test('a question that comes while an idle thread ends is answered by another thread', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const thread = createThread<Question, string>(program);
  expect(await thread.ask({ wants: 'echo' })).toBe('echo');
  vi.advanceTimersByTime(10_000);
  expect(await thread.ask({ wants: 'echo' })).toBe('echo');
});

test('X11 a thread that takes too long is ended, and the next question is answered', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const late = () => new Refusal('overloaded', 'late');
  const thread = createThread<Question, string>(program, { duration: 1000, late });
  const counter = new Int32Array(new SharedArrayBuffer(4));
  const endless = thread.ask({ wants: 'no end', counter }).catch((error: unknown) => error);
  // A slow machine takes longer than a second to start a thread.
  while (Atomics.load(counter, 0) === 0) await pause(10);
  vi.advanceTimersByTime(1000);
  expect(await endless).toMatchObject({ code: 'overloaded', message: 'late' });
  const stillCounts = async () => {
    const before = Atomics.load(counter, 0);
    await pause(50);
    return Atomics.load(counter, 0) !== before;
  };
  // Later, Node ends a thread without references in any case.
  await expect.poll(stillCounts, { timeout: 10_000 }).toBe(false);
  expect(await thread.ask({ wants: 'echo' })).toBe('echo');
});
