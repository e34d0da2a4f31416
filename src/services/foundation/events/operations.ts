import { Op, type WhereOptions } from 'sequelize';
import { z } from 'zod';
import { secondsOf } from '../../../config/duration.ts';
import type { Context } from '../../../context.ts';
import { idOfInstant } from '../../../crypto/id.ts';
import { deleteOld, type Stop } from '../../../database/delete-batches.ts';
import { Account } from '../../../database/models/account.ts';
import { Event } from '../../../database/models/event.ts';
import { Organization } from '../../../database/models/organization.ts';
import { readSettled } from '../../../database/settled.ts';
import { requireAuthority } from '../authority/require.ts';
import { ref } from '../fields.ts';
import { operation } from '../operation.ts';
import { firstKey, pageInput } from '../page.ts';
import { after } from '../time.ts';
import type { StoredEvent } from './reference.sql.ts';
import { eventPage, kindPattern, kindsOf, operatorEventPage, viewEvent } from './view.ts';

const since = z.union(
  [z.iso.datetime({ offset: true }), z.string().regex(/^\d{1,5}[smhd]$/)],
  'must be a time such as 2026-11-20T12:00:00Z, or an age such as 30m, 24h or 7d',
);

const listInput = z.strictObject({
  org: ref,
  kind: kindPattern.optional(),
  since: since.optional(),
  ...pageInput,
});

/** The operator may list the whole instance. */
const listAllInput = listInput.partial({ org: true });

type All = z.output<typeof listAllInput>;

/** Lists the events of an organization, oldest first (spec §6). */
export const listEvents = operation({
  authority: 'events.see',
  input: listInput,
  output: eventPage,
  run: async (ctx, input, { organization }) => {
    const { events, ...page } = await read(ctx, { organizationId: organization.id }, input);
    return { items: events.map(viewEvent), ...page };
  },
});

/** Lists the events of the whole instance, or of one organization, for the operator. */
export const listAllEvents = operation({
  authority: 'operator',
  input: listAllInput,
  output: operatorEventPage,
  run: async (ctx, { org, ...input }): Promise<z.input<typeof operatorEventPage>> => {
    const of = org === undefined ? null : await requireAuthority(ctx, 'events.see', org);
    const where = of === null ? {} : { organizationId: of.organization.id };
    const { events, ...page } = await read(ctx, where, input);
    return { items: of === null ? await viewForOperator(events) : events.map(viewEvent), ...page };
  },
});

async function read(ctx: Context, where: WhereOptions<Event>, input: Omit<All, 'org'>) {
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
  if (last === null || settled === null || last < settled)
    return { events, nextCursor: last, hasMore };
  // The next page begins no later than the settled id, so events may repeat, but none is missed. If
  // it would only repeat this page, there is nothing more to read until the transaction ends.
  const next = settled > (cursor ?? firstKey) ? settled : (cursor ?? null);
  return { events, nextCursor: next, hasMore: hasMore && next !== (cursor ?? null) };
}

/** The id up to which no more events can appear; null if the order is always final. */
async function settledId(): Promise<string | null> {
  const settled = await readSettled();
  return settled === null ? null : idOfInstant(settled);
}

/** The id after which to read: the cursor, or the first that `since` allows, whichever is later. */
function beginning(
  ctx: Context,
  { cursor, since }: Pick<All, 'cursor' | 'since'>,
): string | undefined {
  if (since === undefined) return cursor;
  const ago = secondsOf(since);
  const instant = Number.isNaN(ago) ? Date.parse(since) : ctx.now.getTime() - ago * 1000;
  const first = idOfInstant(Math.max(instant, 0));
  return cursor !== undefined && cursor > first ? cursor : first;
}

/** Events as the operator sees them: with system account, organization slug and user address. */
export async function viewForOperator(events: readonly StoredEvent[]) {
  if (events.length === 0) return [];
  const organizations = await Organization.findAll({
    where: { id: [...new Set(events.flatMap(({ organizationId }) => organizationId ?? []))] },
    attributes: ['id', 'slug'],
  });
  const people = events.flatMap(({ subject }) => (subject?.type === 'user' ? subject.id : []));
  const accounts = await Account.findAll({
    where: { id: [...new Set(people)] },
    attributes: ['id', 'email'],
  });
  const slugs = new Map(organizations.map(({ id, slug }) => [id, slug]));
  const addresses = new Map(accounts.map(({ id, email }) => [id, email]));
  return events.map((event) => ({
    ...viewEvent(event),
    actor: event.actor,
    organization: slugs.get(event.organizationId ?? '') ?? null,
    address: addresses.get(event.subject?.id ?? '') ?? null,
  }));
}

/** Deletes events older than `events.retention`, a bounded number in each run. */
export async function sweepEvents(ctx: Context, stop?: Stop): Promise<void> {
  const retained = after(ctx.now, -secondsOf(ctx.config.events.retention));
  // Ids are ordered by time, so the oldest rows are found without a scan. The column `at` decides.
  const before = idOfInstant(retained.getTime());
  await deleteOld(Event, { column: 'id', before, and: { column: 'at', before: retained } }, stop);
}
