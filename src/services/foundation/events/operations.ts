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
import { laterOf, listFilterInput, wantedBy } from './filter.ts';
import { findEvents } from './list.sql.ts';
import type { StoredEvent } from './stored.sql.ts';
import { eventPage, operatorEventPage, viewEvent } from './view.ts';

const listInput = z.strictObject({
  org: ref,
  ...listFilterInput,
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
    const { events, ...page } = await read(ctx, organization.id, input);
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
    const { events, ...page } = await read(ctx, of?.organization.id ?? null, input);
    return { items: of === null ? await viewForOperator(events) : events.map(viewEvent), ...page };
  },
});

async function read(
  ctx: Context,
  organizationId: string | null,
  { limit, cursor: given, ...filter }: Omit<All, 'org'>,
) {
  const wanted = await wantedBy(ctx, organizationId, filter);
  const cursor = laterOf(given ?? null, wanted.after);
  const settled = await settledId();
  const rows = await findEvents({ ...wanted, after: cursor }, { limit: limit + 1 });
  const events = rows.slice(0, limit);
  const [last, hasMore] = [events.at(-1)?.id ?? cursor, rows.length > limit];
  if (last === null || settled === null || last < settled)
    return { events, nextCursor: last, hasMore };
  // The next page begins no later than the settled id, so events may repeat, but none is missed. If
  // it would only repeat this page, there is nothing more to read until the transaction ends.
  const next = settled > (cursor ?? firstKey) ? settled : cursor;
  return { events, nextCursor: next, hasMore: hasMore && next !== cursor };
}

/** The id up to which no more events can appear; null if the order is always final. */
async function settledId(): Promise<string | null> {
  const settled = await readSettled();
  return settled === null ? null : idOfInstant(settled);
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
