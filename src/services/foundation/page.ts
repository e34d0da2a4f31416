import { z } from 'zod';
import { id } from './fields.ts';

/** Sorts before every id. */
export const firstKey = '00000000-0000-0000-0000-000000000000';

/** The input fields of a paged list. */
export const pageInput = {
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: id.optional(),
};

/** A page of a list, and where the next one begins. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() });

interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
}

/** Reads one page by keyset. `load` gets the id after which to begin, and how many rows to read. */
export async function readPage<Row, Item>(
  at: { limit: number; cursor?: string | undefined },
  load: (after: string, count: number) => Promise<Row[]>,
  keyOf: (row: Row) => string,
  view: (row: Row) => Item,
): Promise<Page<Item>> {
  const rows = await load(at.cursor ?? firstKey, at.limit + 1);
  const shown = rows.slice(0, at.limit);
  const last = shown.at(-1);
  const more = rows.length > at.limit && last !== undefined;
  return { items: shown.map(view), nextCursor: more ? keyOf(last) : null };
}
