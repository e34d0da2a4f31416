import { expect, test } from 'vitest';
import { z } from 'zod';
import { Refusal, refuseFaults } from '../../src/errors.ts';
import { excessOf } from '../../src/http/body/count.ts';
import { cutIntoSlices, joinSlices } from '../../src/http/body/slices.ts';
import { problemOf, refusalForClients } from '../../src/http/refusals.ts';
import { operationRoutes } from '../../src/http/routes/list.ts';
import { parse } from '../../src/input.ts';
import { list } from '../../src/services/foundation/list.ts';
import { cut } from '../../src/text/cut.ts';
import { turnsDuring } from '../support/turns.ts';

const refusalOf = (schema: z.ZodType, value: unknown): Refusal => {
  try {
    parse(schema, value);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};

/** Counts the values of a JSON text after parsing it. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, part) => sum + valuesIn(part), 1);
}

test.each([
  '0',
  '"a"',
  '{}',
  '[]',
  '[1,2,3]',
  '{"a":1,"b":[true,false,null],"c":{"d":"e"}}',
  ' { "a" : 1 , "b" : [ -1.5e+9 , "x" ] } ',
  String.raw`{"a\"b":"c\\","d":"{[,:]}","\\":[""]}`,
  '[[[[]]],{},{"":{"":""}}]',
  '{"a":{"a":{"a":1}},"b":"ü: \u2028"}',
  '[\n\t"a",\r\n"b"]',
])(
  'X11 an object, an array and a scalar count as one value, and a key does not: %s',
  async (text) => {
    const count = valuesIn(JSON.parse(text));
    const most = (values: number) => excessOf(Buffer.from(text), { values, keys: 100 });
    expect([await most(count), await most(count - 1)]).toEqual([
      null,
      `The body has more than ${count - 1} JSON values.`,
    ]);
  },
);

test('X11 colons that belong to no key hide no values', async () => {
  const hidden = Buffer.from(`{"a":[${'0,'.repeat(50)}0]${':'.repeat(1000)}}`);
  expect(await excessOf(hidden, { values: 40, keys: 2000 })).toContain('more than 40 JSON values');
});

test('X11 keys and levels are counted before a body is parsed', async () => {
  const keys = (count: number) => Array.from({ length: count }, (_, at) => `"${at}":{}`).join(',');
  const excess = (text: string) => excessOf(Buffer.from(text), { values: 5000, keys: 100 });
  expect(await excess(`[{${keys(100)}},{${keys(100)}}]`)).toBeNull();
  expect(await excess(`[{},{${keys(101)}`)).toBe('An object in the body has more than 100 keys.');
  expect(await excess(`${'{"a":['.repeat(16)}1${']}'.repeat(16)}`)).toBeNull();
  expect(await excess('[[{"a":'.repeat(11))).toBe('The body nests deeper than 32 levels.');
});

test('X11 a body is counted in slices, and a text that is not JSON is left to the parser', async () => {
  for (const byte of [',', ' ', ':']) {
    const bytes = Buffer.alloc(4 * 1024 * 1024, byte);
    const counting = excessOf(bytes, { values: 400_000, keys: 10_000_000 });
    expect(await turnsDuring(counting)).toBeGreaterThan(2);
  }
  expect(await excessOf(Buffer.from('[1,2'), { values: 9, keys: 1 })).toBeNull();
  expect(await excessOf(Buffer.from(']]'), { values: 1, keys: 1 })).toBeNull();
});

const fields = z.strictObject({ name: z.string(), email: z.string().optional() });

test('X11 a refusal names the first 20 faults, and says how many more there are', () => {
  const keys = Object.fromEntries(Array.from({ length: 73 }, (_, at) => [`key${at}`, at]));
  const refusal = refusalOf(fields, { name: 'a', ...keys });
  expect(refusal.faults.map(({ path }) => path)).toEqual(Object.keys(keys).slice(0, 20));
  expect(refusal.moreFaults).toBe(53);
  expect(refusal.message).toMatch(/key19: is not a known field; and 53 more$/);
  expect(problemOf(refusal, 'r')).toMatchObject({ moreErrors: 53 });
  expect(refusalOf(fields, {})).toMatchObject({ moreFaults: 0, message: 'name: is required' });
});

test('X11 a refusal asks "did you mean" for at most five names', () => {
  const near = Array.from({ length: 12 }, (_, at) => `name${String.fromCharCode(97 + at)}`);
  const given = Object.fromEntries(near.map((key) => [key, 1]));
  const { faults } = refusalOf(fields, { ...given, name: 'a' });
  const asked = faults.filter(({ message }) => message.includes('did you mean name?'));
  expect(asked).toHaveLength(5);
  expect(faults.length).toBeGreaterThan(8);
});

test('X11 a long key is not compared with known names, and is cut in the refusal', () => {
  const { faults } = refusalOf(fields, { name: 'a', [`name${'e'.repeat(90_000)}`]: 1 });
  expect(faults).toHaveLength(1);
  expect(faults[0]?.path.length).toBeLessThan(100);
});

test('X11 a check of a list stops after 100 faults, and does not read a list that is too long', () => {
  let checked = 0;
  const entry = z.strictObject({ a: z.string() }).superRefine(() => {
    checked += 1;
  });
  const counting = z.unknown().transform((value) => {
    checked += 1;
    return value;
  });
  const schema = z.strictObject({ all: list(entry, 10_000) });
  const refusal = refusalOf(schema, { all: Array(10_000).fill({}) });
  expect(refusal.message).toMatch(/all\.19\.a: is required; and at least 80 more$/);
  checked = 0;
  const long = z.strictObject({ all: list(counting, 10) });
  expect(refusalOf(long, { all: Array(5000).fill(1) }).faults).toEqual([
    { path: 'all', message: 'must have at most 10 entries' },
  ]);
  expect(checked).toBe(0);
  expect(parse(long, { all: [1, 2] })).toEqual({ all: [1, 2] });
});

test('X11 every list in the input of a route has a maximum', () => {
  const without: string[] = [];
  const look = (schema: unknown, at: string): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const isList = 'type' in schema && schema.type === 'array';
    if (isList && !('maxItems' in schema)) without.push(at);
    for (const [key, part] of Object.entries(schema)) look(part, `${at}.${key}`);
  };
  for (const { method, path, input } of operationRoutes)
    look(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }), `${method} ${path}`);
  expect(without).toEqual([]);
});

test('X11 a refusal is at most 16 KiB long, whatever it names', () => {
  const worst = ['"', '&', '\u0001', '\ud800', '漢'].map((sign) => sign.repeat(200_000));
  for (const text of worst) {
    const faults = Array.from({ length: 500 }, () => ({ path: text, message: text }));
    const refusal = refuseFaults(faults, { hint: text });
    const problem = JSON.stringify(problemOf(refusalForClients(refusal), 'r'.repeat(36)));
    expect(Buffer.byteLength(problem)).toBeLessThan(16 * 1024);
    expect(JSON.parse(problem).errors).toHaveLength(20);
    expect(JSON.parse(problem).moreErrors).toBe(480);
  }
  expect(cut('short', 100)).toBe('short');
});

test('X11 a large value comes out of its slices unchanged', async () => {
  const members = Array.from({ length: 2500 }, (_, at) => ({ at, in: [at] }));
  const value = { a: { members, few: [1, [2]], nothing: null }, b: 'text', c: members.slice(0, 3) };
  const slices = cutIntoSlices(value);
  expect(slices.lists.map(({ path, parts }) => [path, parts.length])).toEqual([
    [['a', 'members'], 3],
  ]);
  expect(await joinSlices(slices)).toEqual(value);
  expect(await joinSlices(cutIntoSlices(members))).toEqual(members);
});
