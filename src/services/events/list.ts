import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Event } from '../../database/models/event.ts';
import { requireAuthority } from '../authority/require.ts';
import { firstKey } from '../page.ts';
import type { eventPage, listEventsInput } from './schema.ts';
import { viewEvent } from './view.ts';

/** What happened in an organization, oldest first (spec §6). */
export async function listEvents(
  ctx: Context,
  input: z.output<typeof listEventsInput>,
): Promise<z.input<typeof eventPage>> {
  const { organization } = await requireAuthority(ctx, 'events.see', input.org);
  const rows = await Event.findAll({
    where: {
      organizationId: organization.id,
      id: { [Op.gt]: input.cursor ?? firstKey },
      ...(input.kind === undefined ? {} : { kind: input.kind }),
    },
    order: ['id'],
    limit: input.limit + 1,
  });
  const items = rows.slice(0, input.limit).map(viewEvent);
  return { items, nextCursor: items.at(-1)?.id ?? input.cursor ?? null, hasMore: rows.length > input.limit };
}
