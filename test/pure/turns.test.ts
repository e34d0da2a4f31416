import { expect, test } from 'vitest';
import { createTurns } from '../../src/host/turns.ts';

const late = () => new Error('late');

/** Work that runs until the test ends it. */
function piece(order: string[], name: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    run: () => {
      order.push(name);
      return promise;
    },
    end: resolve,
  };
}

/** Lets all promises that can settle do so. */
const settled = () => new Promise(setImmediate);

test('O15 keys take turns, however much work of one key is waiting', async () => {
  const turns = createTurns({ each: 1, all: 1 });
  const order: string[] = [];
  const names = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'];
  const pieces = names.map((name) => piece(order, name));
  const all = pieces.map(({ run }, at) => turns.run(names[at]?.[0] ?? '', run));
  for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']) {
    await settled();
    expect(order.at(-1)).toBe(name);
    pieces[names.indexOf(name)]?.end();
  }
  await Promise.all(all);
  expect(turns.load()).toEqual({ running: 0, waiting: 0 });
});

test('O15 a key that has all its places leaves the others to other keys', async () => {
  const turns = createTurns({ each: 2, all: 3 });
  const order: string[] = [];
  const names = ['a1', 'a2', 'a3', 'b1', 'b2'];
  const pieces = names.map((name) => piece(order, name));
  const all = pieces.map(({ run }, at) => turns.run(names[at]?.[0] ?? '', run));
  await settled();
  expect(order).toEqual(['a1', 'a2', 'b1']);
  pieces[3]?.end();
  await settled();
  expect(order.at(-1)).toBe('b2');
  pieces[0]?.end();
  await settled();
  expect(order.at(-1)).toBe('a3');
  for (const { end } of pieces) end();
  await Promise.all(all);
});

test('O15 work whose turn does not come in time is refused and never runs; work without patience waits', async () => {
  const turns = createTurns({ each: 1, all: 1 });
  const order: string[] = [];
  const [first, second, third] = [piece(order, '1'), piece(order, '2'), piece(order, '3')];
  const running = turns.run('a', first.run);
  const patient = turns.run('a', third.run);
  await expect(turns.run('a', second.run, { patience: 5, late })).rejects.toThrow('late');
  first.end();
  third.end();
  await Promise.all([running, patient]);
  expect(order).toEqual(['1', '3']);
});

test('O15 work that fails gives its place back', async () => {
  const turns = createTurns({ each: 1, all: 1 });
  const failing = turns.run('a', () => Promise.reject(new Error('broken')));
  await expect(failing).rejects.toThrow('broken');
  expect(await turns.run('a', async () => 'next')).toBe('next');
});
