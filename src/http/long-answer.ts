import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { z } from 'zod';
import { inSlices } from '../host/queue.ts';

// An answer may have 30,000 entries. These functions shape and write it in slices, so that other
// requests are answered in between (security O15).

const long = 500;

const isLong = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > long;

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Like `schema.parse(view)`. Parses the long lists of the view in slices. */
export async function shape(schema: z.ZodType, view: unknown): Promise<unknown> {
  if (!(schema instanceof z.ZodObject) || !isPlain(view)) return schema.parse(view);
  const lists = Object.entries(view).flatMap(([name, list]) => {
    const items = schema.shape[name];
    return isLong(list) && items instanceof z.ZodArray ? [{ name, list, items }] : [];
  });
  if (lists.length === 0) return schema.parse(view);
  const empty = Object.fromEntries(lists.map(({ name }) => [name, []]));
  const shaped: Record<string, unknown> = { ...schema.parse({ ...view, ...empty }) };
  for (const { name, list, items } of lists) {
    const all: unknown[] = [];
    await inSlices(list, (some) => void all.push(...items.parse(some)));
    shaped[name] = all;
    await yieldToEventLoop();
  }
  return shaped;
}

/** Like `change(view)`, in slices, for a change that treats each part of a view in the same way. */
export async function changeLong(
  view: unknown,
  change: (part: unknown) => unknown,
): Promise<unknown> {
  if (!isPlain(view) || !Object.values(view).some(isLong)) return change(view);
  const changed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(view)) {
    if (!isLong(value)) Object.assign(changed, change({ [name]: value }));
    else {
      const all: unknown[] = [];
      // A change keeps a list a list.
      await inSlices(value, (some) => void all.push(...(change(some) as unknown[])));
      changed[name] = all;
    }
  }
  return changed;
}

/** Like `JSON.stringify(body)`, in slices; null if the body has no long list. */
export async function writeLong(body: unknown): Promise<Buffer | null> {
  if (!isPlain(body) || !Object.values(body).some(isLong)) return null;
  const parts: Buffer[] = [];
  let before = '{';
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    parts.push(Buffer.from(`${before}${JSON.stringify(name)}:`));
    before = ',';
    if (isLong(value)) parts.push(...(await writeList(value)));
    else parts.push(Buffer.from(JSON.stringify(value)));
  }
  return Buffer.concat([...parts, Buffer.from('}')]);
}

async function writeList(list: unknown[]): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  await inSlices(list, (some) => {
    const text = JSON.stringify(some).slice(1, -1);
    parts.push(Buffer.from(`${parts.length === 0 ? '[' : ','}${text}`));
  });
  return [...parts, Buffer.from(']')];
}
