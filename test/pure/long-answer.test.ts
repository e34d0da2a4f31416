import { expect, test } from 'vitest';
import { z } from 'zod';
import { shape, writeLong } from '../../src/http/long-answer.ts';
import { planView } from '../../src/services/provisioning/document/changes.ts';
import { turnsDuring } from '../support/turns.ts';

const change = (at: number) => ({
  section: 'mappings' as const,
  action: 'add' as const,
  key: `é ${at}`,
  hidden: at,
});
const view = {
  changes: Array.from({ length: 3001 }, (_, at) => change(at)),
  kept: [],
  losing: [],
  notCompared: [],
  blocked: [],
  digest: 'abc',
  hidden: true,
};

test('O15 a long answer is shaped and written in slices, and is the same as in one piece', async () => {
  const shaped = await shape(planView, view);
  const whole = planView.parse(view);
  expect(shaped).toEqual(whole);
  expect((await writeLong(shaped))?.toString()).toBe(JSON.stringify(whole));
  expect(await turnsDuring(shape(planView, view))).toBeGreaterThanOrEqual(6);
  expect(await turnsDuring(writeLong(shaped))).toBeGreaterThanOrEqual(6);
});

test('a short answer is shaped by its schema, and a long list with a wrong entry fails', async () => {
  expect(await shape(z.object({ one: z.int() }), { one: 1, two: 2 })).toEqual({ one: 1 });
  expect(await writeLong({ one: [1] })).toBeNull();
  const wrong = { ...view, changes: [...view.changes, { section: 'nothing' }] };
  await expect(shape(planView, wrong)).rejects.toThrow('section');
});
