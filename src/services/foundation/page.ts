import { type Model, type ModelStatic, Op, type WhereOptions } from 'sequelize';
import { z } from 'zod';
import { id } from './fields.ts';

/** A key that sorts before every id. */
export const firstKey = '00000000-0000-0000-0000-000000000000';

/** The input fields of a paged list. */
export const pageInput = {
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: id.optional(),
};

/** A page of a list, and where the next one begins. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() });

interface Cursor {
  limit: number;
  cursor?: string | undefined;
}

interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
}

interface Rows {
  where?: Record<string, unknown>;
  include?: string[];
  /** Orders the rows by descending id. */
  newestFirst?: boolean;
}

/** Like `readPage`, for rows of one model: those of `where`, with `include`, ordered by id. */
export function readRows<Row extends Model & { id: string }, Item>(
  model: ModelStatic<Row>,
  { where = {}, include = [], newestFirst = false }: Rows,
  at: Cursor,
  view: (row: Row) => Item,
): Promise<Page<Item>> {
  const [beyond, direction] = newestFirst ? ([Op.lt, 'DESC'] as const) : ([Op.gt, 'ASC'] as const);
  const further = at.cursor === undefined ? {} : { id: { [beyond]: at.cursor } };
  return readPage(
    at,
    (_, limit) => {
      const all: WhereOptions = { ...where, ...further };
      return model.findAll({ where: all, include, order: [['id', direction]], limit });
    },
    (row) => row.id,
    view,
  );
}

/** Reads one page by keyset. `load` gets the id after which to begin, and how many rows to read. */
export async function readPage<Row, Item>(
  at: Cursor,
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

const rowsAtOnce = 1000;

/** Reads all rows by keyset, a bounded number at a time, so that each read is short. */
export async function readAllRows<Row extends { id: string }>(
  load: (after: string, count: number) => Promise<Row[]>,
  atOnce = rowsAtOnce,
): Promise<Row[]> {
  return readAllAfter<Row>((last, count) => load(last?.id ?? firstKey, count), atOnce);
}

/** Like `readAllRows`, for rows with another key. `load` gets the last row that was read. */
export async function readAllAfter<Row>(
  load: (last: Row | undefined, count: number) => Promise<Row[]>,
  atOnce = rowsAtOnce,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const some = await load(rows.at(-1), atOnce);
    rows.push(...some);
    if (some.length < atOnce) return rows;
  }
}
