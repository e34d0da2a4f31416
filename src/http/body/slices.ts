import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** A value as JSON texts, so that no thread has to parse all of it in one turn. */
export interface Slices {
  /** The value, with an empty list in place of each long one. */
  rest: string;
  lists: { path: string[]; parts: string[] }[];
}

const longest = 1000;

/** Cuts a value into slices. Finds the long lists that are in no other list. */
export function cutIntoSlices(value: unknown): Slices {
  const lists: Slices['lists'] = [];
  const without = (one: unknown, path: string[]): unknown => {
    if (Array.isArray(one)) {
      if (one.length <= longest) return one;
      lists.push({ path, parts: partsOf(one) });
      return [];
    }
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(
      Object.entries(one).map(([key, part]) => [key, without(part, [...path, key])]),
    );
  };
  return { rest: JSON.stringify(without(value, [])), lists };
}

function partsOf(entries: unknown[]): string[] {
  const parts: string[] = [];
  for (let at = 0; at < entries.length; at += longest)
    parts.push(JSON.stringify(entries.slice(at, at + longest)));
  return parts;
}

/** Puts the value together again. Lets other requests run between the slices. */
export async function joinSlices({ rest, lists }: Slices): Promise<unknown> {
  const value: unknown = JSON.parse(rest);
  for (const { path, parts } of lists) {
    const list = listAt(value, path);
    for (const part of parts) {
      await yieldToEventLoop();
      list.push(...JSON.parse(part));
    }
  }
  return value;
}

function listAt(value: unknown, path: string[]): unknown[] {
  let at = value;
  // `cutIntoSlices` made this path of objects, and a list at its end.
  for (const key of path) at = (at as Record<string, unknown>)[key];
  return at as unknown[];
}
