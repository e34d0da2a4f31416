import type { Context } from '../../../../context.ts';
import { remembered } from '../../../../host/memory.ts';
import { firstKey } from '../../../foundation/page.ts';
import type { Entry } from '../../../tenancy/scim-records/record.sql.ts';
import { countAfter, findNthAfter, type ListPosition, readRecordsAfter } from './records.sql.ts';

// Clients page by `startIndex`, and want the total with each page. To avoid counting from the start
// each time, the process remembers the position of every 500th record. New records join only at the
// end. After any other change of the list, the organization's shift number differs, and the
// positions are computed again.

/** The remembered positions in an organization's list. */
interface ListPositions {
  /**
   * The organization's count in `scim_shifts` when these positions were read. If the count changes,
   * the positions are invalid.
   */
  shifts: number;
  /** The last record of each group of 500, in the order of the list. */
  at: readonly ListPosition[];
}

/** The positions in the list of each organization. */
export const listPositions = remembered(() => new Map<string, ListPositions>());

const step = 500;
// A record this old has settled: an open transaction can no longer commit a record that sorts
// before it.
const settledAfterMs = 40_000;
const maxOrganizations = 500;
/** A position before every record. */
export const beginning: ListPosition = { created_at: new Date(0), id: firstKey };

/** A page of the whole list, and the total. */
export async function readWholeList(
  ctx: Context,
  organizationId: string,
  window: { from: number; count: number },
): Promise<{ total: number; records: Entry[] }> {
  const { positions, total } = await survey(ctx, organizationId);
  const passed = Math.min(Math.floor(window.from / step), positions.at.length);
  const after = positions.at[passed - 1] ?? beginning;
  if (window.count === 0 || window.from >= total) return { total, records: [] };
  const page = { count: window.count, skip: window.from - passed * step };
  return { total, records: await readRecordsAfter(organizationId, after, page) };
}

/** The known positions in the list, and the total. */
async function survey(ctx: Context, organizationId: string) {
  const known = listPositions(ctx).get(organizationId);
  let { shifts, tail } = await countAfter(organizationId, known?.at.at(-1) ?? beginning, 2 * step);
  let positions = known?.shifts === shifts ? known : { shifts, at: [] };
  if (positions !== known || tail === 2 * step) {
    positions = { shifts, at: await extend(ctx, organizationId, positions.at) };
    ({ shifts, tail } = await countAfter(organizationId, positions.at.at(-1) ?? beginning));
  }
  remember(ctx, organizationId, positions);
  return { positions, total: positions.at.length * step + tail };
}

/** Adds positions after the known ones. Other requests can run between the short queries. */
async function extend(ctx: Context, organizationId: string, known: readonly ListPosition[]) {
  const settled = new Date(ctx.now.getTime() - settledAfterMs);
  const at = [...known];
  for (;;) {
    const after = at.at(-1) ?? beginning;
    const position = await findNthAfter(organizationId, after, { step, settled });
    if (position === null) return at;
    at.push(position);
  }
}

/** Remembers the positions. Above the limit, forgets the organization used least recently. */
function remember(ctx: Context, organizationId: string, positions: ListPositions): void {
  const all = listPositions(ctx);
  all.delete(organizationId);
  all.set(organizationId, positions);
  const [oldest] = all.keys();
  if (all.size > maxOrganizations && oldest !== undefined) all.delete(oldest);
}
