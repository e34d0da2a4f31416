import { Op, type WhereOptions } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Event } from '../../database/models/event.ts';
import { requireAuthority, requireOperator } from '../authority/require.ts';
import { firstKey } from '../page.ts';
import type { eventPage, listAllEventsInput, listEventsInput } from './schema.ts';
import { settledId } from './settled.ts';
import { viewEvent } from './view.ts';

type Page = z.input<typeof eventPage>;
type All = z.output<typeof listAllEventsInput>;

/** What happened in an organization, oldest first (spec §6). */
export async function listEvents(ctx: Context, input: z.output<typeof listEventsInput>): Promise<Page> {
  const { organization } = await requireAuthority(ctx, 'events.see', input.org);
  return read({ organizationId: organization.id }, input);
}

/** What happened in the whole instance, or in one organization, for the operator. */
export async function listAllEvents(ctx: Context, { org, ...input }: All): Promise<Page> {
  requireOperator(ctx);
  return org === undefined ? read({}, input) : listEvents(ctx, { org, ...input });
}

/** Where the operator goes on from to see only what happens from now on. */
export async function lastEventId(ctx: Context, { org }: All): Promise<string> {
  requireOperator(ctx);
  if (org !== undefined) await requireAuthority(ctx, 'events.see', org);
  const last = await Event.findOne({ order: [['id', 'DESC']], attributes: ['id'] });
  return last?.id ?? firstKey;
}

async function read(where: WhereOptions<Event>, { cursor, kind, limit }: Omit<All, 'org'>): Promise<Page> {
  const settled = await settledId();
  const rows = await Event.findAll({
    where: { ...where, ...(kind === undefined ? {} : { kind }), id: { [Op.gt]: cursor ?? firstKey } },
    order: ['id'],
    limit: limit + 1,
  });
  const items = rows.slice(0, limit).map(viewEvent);
  const [last, hasMore] = [items.at(-1)?.id ?? cursor ?? null, rows.length > limit];
  if (last === null || settled === null || last < settled) return { items, nextCursor: last, hasMore };
  // Events may come twice, and none is left out: one goes on from where none can come behind any more, if that is further.
  const further = settled > (cursor ?? firstKey) ? settled : cursor;
  return { items, nextCursor: hasMore && further === cursor ? last : (further ?? null), hasMore };
}
