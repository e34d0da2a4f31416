import { Op, type WhereOptions } from 'sequelize';
import type { z } from 'zod';
import { secondsOf } from '../../../config/duration.ts';
import type { Context } from '../../../context.ts';
import { idOfInstant } from '../../../crypto/id.ts';
import { Event } from '../../../database/models/event.ts';
import { requireAuthority, requireOperator } from '../authority/require.ts';
import { firstKey } from '../page.ts';
import { viewForOperator } from './operator-view.ts';
import {
  type eventPage,
  kindsOf,
  type listAllEventsInput,
  type listEventsInput,
  type operatorEventPage,
} from './schema.ts';
import { settledId } from './settled.ts';
import { viewEvent } from './view.ts';

type Page = z.input<typeof eventPage>;
type OperatorPage = z.input<typeof operatorEventPage>;
type All = z.output<typeof listAllEventsInput>;

/** What happened in an organization, oldest first (spec §6). */
export async function listEvents(ctx: Context, input: z.output<typeof listEventsInput>): Promise<Page> {
  const { organization } = await requireAuthority(ctx, 'events.see', input.org);
  const { events, ...page } = await read(ctx, { organizationId: organization.id }, input);
  return { items: events.map(viewEvent), ...page };
}

/** What happened in the whole instance, or in one organization, for the operator. */
export async function listAllEvents(ctx: Context, { org, ...input }: All): Promise<OperatorPage> {
  requireOperator(ctx);
  const of = org === undefined ? null : await requireAuthority(ctx, 'events.see', org);
  const { events, ...page } = await read(
    ctx,
    of === null ? {} : { organizationId: of.organization.id },
    input,
  );
  return { items: of === null ? await viewForOperator(events) : events.map(viewEvent), ...page };
}

/** Where the operator goes on from to see only what happens from now on. */
export async function lastEventId(ctx: Context, { org }: All): Promise<string> {
  requireOperator(ctx);
  if (org !== undefined) await requireAuthority(ctx, 'events.see', org);
  const last = await Event.findOne({ order: [['id', 'DESC']], attributes: ['id'] });
  return last?.id ?? firstKey;
}

async function read(
  ctx: Context,
  where: WhereOptions<Event>,
  input: Omit<All, 'org'>,
): Promise<Omit<Page, 'items'> & { events: Event[] }> {
  const { kind, limit } = input;
  const cursor = beginning(ctx, input);
  const settled = await settledId();
  const rows = await Event.findAll({
    where: {
      ...where,
      ...(kind === undefined ? {} : { kind: kindsOf(kind) }),
      id: { [Op.gt]: cursor ?? firstKey },
    },
    order: ['id'],
    limit: limit + 1,
  });
  const events = rows.slice(0, limit);
  const [last, hasMore] = [events.at(-1)?.id ?? cursor ?? null, rows.length > limit];
  if (last === null || settled === null || last < settled) return { events, nextCursor: last, hasMore };
  // Events may come twice, and none is left out: one goes on from where none can come behind any more, if that is further.
  const further = settled > (cursor ?? firstKey) ? settled : cursor;
  return { events, nextCursor: hasMore && further === cursor ? last : (further ?? null), hasMore };
}

/** The id after which to read: the cursor, or the first that `since` allows where that is further. */
function beginning(ctx: Context, { cursor, since }: Pick<All, 'cursor' | 'since'>): string | undefined {
  if (since === undefined) return cursor;
  const ago = secondsOf(since);
  const instant = Number.isNaN(ago) ? Date.parse(since) : ctx.now.getTime() - ago * 1000;
  const first = idOfInstant(Math.max(instant, 0));
  return cursor !== undefined && cursor > first ? cursor : first;
}
