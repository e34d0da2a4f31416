import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { returnMemory } from '../../src/host/memory-return.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const megabyte = 1024 * 1024;

/** A process that uses this much processor time in ten seconds, and makes this much garbage. */
function watched({ load, garbage }: { load: number; garbage: number }) {
  const state = { used: 0, heap: 40 * megabyte, collections: 0, load, garbage };
  returnMemory({
    used: () => state.used,
    heap: () => state.heap,
    collect: () => {
      state.collections += 1;
      state.heap = 32 * megabyte;
    },
  });
  const pass = (times: number) => {
    for (let at = 0; at < times; at += 1) {
      state.used += state.load;
      state.heap += state.garbage;
      vi.advanceTimersByTime(10_000);
    }
    return state.collections;
  };
  return { state, pass };
}

test('an idle daemon collects the garbage of its start once', () => {
  expect(watched({ load: 30, garbage: 1000 }).pass(60)).toBe(1);
});

test('a daemon under load does not collect, and collects once when the load has ended', () => {
  const { state, pass } = watched({ load: 3000, garbage: 2 * megabyte });
  expect(pass(30)).toBe(0);
  Object.assign(state, { load: 30, garbage: 0 });
  expect(pass(30)).toBe(1);
});

test('a daemon with few requests does not collect', () => {
  expect(watched({ load: 200, garbage: 6 * megabyte }).pass(600)).toBe(0);
});

test('an idle daemon with growing garbage collects every ten minutes', () => {
  expect(watched({ load: 30, garbage: megabyte }).pass(181)).toBe(4);
});
