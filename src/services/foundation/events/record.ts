import type { Actor, Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { hold } from '../../../database/hold.ts';
import { insertEvent } from '../../../database/insert-event.ts';
import { Event, type EventActor, type EventSubject } from '../../../database/models/event.ts';
import { insertRow, insertRows } from '../../../database/select.ts';
import { isRehearsed } from '../../../database/transaction.ts';
import { remembered } from '../../../host/memory.ts';
import { inSlices } from '../../../host/queue.ts';
import { nameShownIn } from '../authority/shown.ts';
import { countUp } from '../limits/limit.ts';
import type { EventData, EventName } from './kinds.ts';
import { isWanted, viewEvent } from './view.ts';

/** An event to record, of any kind. */
export type Happening = { [Name in EventName]: HappeningOf<Name, EventData<Name>> }[EventName];

type Tally = 'count' | 'lastAt' | 'references' | 'reasons';

/** A recurring event to record. `tallyEvent` adds the fields of the tally. */
type Recurring = {
  [Name in EventName]: HappeningOf<Name, Omit<EventData<Name>, Tally>>;
}[EventName];

interface About<Name> {
  kind: Name;
  organizationId?: string | null;
  subject?: EventSubject;
}

/** `data` is required unless every field of the kind is optional. */
type HappeningOf<Name, Data> = About<Name> &
  (Record<never, never> extends Data ? { data?: Data } : { data: Data });

/** Records an event and its deliveries. Call it inside the transaction that causes the event. */
export async function recordEvent(
  ctx: Context,
  what: Happening,
  id: string = orderedId(),
): Promise<void> {
  const { kind, organizationId = null, subject = null, data = {} } = what;
  const event = {
    id,
    kind,
    at: ctx.now,
    actor: await viewActor(ctx.actor, organizationId),
    subject,
    data,
  };
  await fanOut({ ...event, organizationId });
}

/**
 * Records many events of one organization, like `recordEvent`, in few statements. Call it inside
 * the transaction that causes them.
 */
export async function recordEvents(
  ctx: Context,
  organizationId: string,
  happenings: Happening[],
): Promise<void> {
  if (happenings.length === 0) return;
  const actor = await viewActor(ctx.actor, organizationId);
  const listeners = await hold.webhooks(organizationId);
  await inSlices(happenings, async (some) => {
    const events = some.map(({ kind, subject = null, data = {} }) => {
      return { id: orderedId(), kind, at: ctx.now, actor, subject, data };
    });
    await insertRows(
      'events',
      events.map((event) => ({ ...event, organization_id: organizationId })),
    );
    for (const webhook of listeners) {
      const wanted = events.filter((event) => isWanted(event.kind, webhook.events));
      await insertRows(
        'webhook_deliveries',
        wanted.map((event) => deliveryOf(webhook.id, event)),
      );
    }
  });
}

/** The subject of an event (a row with a name) and the event's organization, if it has one. */
export function eventAbout(
  type: string,
  { id, name }: { id: string; name: string },
  organizationId: string | null = null,
) {
  return { organizationId, subject: { type, id, name } };
}

/** The actor, with the name that the organization sees (security I4). */
export async function viewActor(actor: Actor, organizationId: string | null): Promise<EventActor> {
  switch (actor.kind) {
    case 'user': {
      const name = organizationId === null ? actor.name : await nameShownIn(organizationId, actor);
      return { kind: 'user', id: actor.accountId, name };
    }
    case 'app':
      return { kind: 'app', id: actor.appId, name: actor.name };
    case 'setupLink':
      return { kind: 'setupLink', id: actor.id, name: actor.name };
    case 'anonymous':
      return { kind: 'anonymous' };
    default:
      return { kind: actor.kind, name: actor.name };
  }
}

type Written = Pick<Event, 'id' | 'kind' | 'at' | 'organizationId' | 'actor' | 'subject' | 'data'>;

/**
 * Writes an event, and a delivery for each webhook that wants it. Call it inside the transaction
 * that causes the event. Without webhooks, this is one statement.
 */
async function fanOut({ organizationId, ...event }: Written): Promise<void> {
  const row = { ...event, organization_id: organizationId };
  // An event outside any organization is not sent to webhooks.
  if (organizationId === null) return insertRow('events', row);
  for (const { id, events } of await insertEvent(row, organizationId)) {
    if (isWanted(event.kind, events)) await insertRow('webhook_deliveries', deliveryOf(id, event));
  }
}

/** The delivery of an event to a webhook. */
function deliveryOf(webhookId: string, event: Omit<Written, 'organizationId'>) {
  const message = { type: event.kind, timestamp: event.at.toISOString(), data: viewEvent(event) };
  return {
    id: orderedId(),
    webhook_id: webhookId,
    event: event.kind,
    body: JSON.stringify(message),
    at: event.at,
    status: 'waiting',
    attempts: 0,
    next_at: event.at,
  };
}

/** How long repeats share an event. */
export const windowSeconds = 900;
// A counter is a 32-bit number in the database.
const unlimited = 2 ** 31 - 1;

/**
 * The maximum number of request ids that an event keeps, so that support can find a person's
 * request.
 */
const maxReferences = 20;

/**
 * Records an event that strangers can repeat. All repeats within 15 minutes share one row with a
 * count, so that the disk cannot fill. Each subject (`of`) and detail (`apart`) has its own row,
 * with the latest references (security X5).
 */
export async function tallyEvent(
  ctx: Context,
  what: Recurring,
  by: { of: string; apart: string },
): Promise<void> {
  const said: Record<string, unknown> = what.data ?? {};
  const method = /^(?:(\w+)\.)?signin\.refused$/.exec(what.kind);
  if (method) countSignIn(ctx, method[1] ?? String(said['method']), 'refused');
  const window = await countUp(ctx, {
    ...by,
    name: what.kind,
    max: unlimited,
    seconds: windowSeconds,
  });
  if (window === null) return;
  const data = { ...said, count: window.used };
  // A recurring event has all data of its kind, except the tally's fields, which are added here.
  if (window.used === 1) {
    const references = [ctx.requestId];
    return recordEvent(ctx, { ...what, data: { ...data, references } } as Happening, window.id);
  }
  // The row lock of `countUp` makes parallel repeats wait.
  const event = await Event.findByPk(window.id, { attributes: ['data'] });
  const kept = keepReference(event?.data ?? {}, ctx.requestId, said['reason']);
  const latest = { ...data, lastAt: ctx.now.toISOString(), ...kept };
  await Event.update({ data: latest }, { where: { id: window.id } });
}

/** The latest references of an event, and the reason of each if the reasons differ. */
function keepReference(earlier: Event['data'], reference: string, reason: unknown) {
  const known = referencesIn(earlier);
  const references = [...known, reference].slice(-maxReferences);
  const reasons = [...known.map((one) => reasonFor(earlier, one)), String(reason)];
  const latest = reasons.slice(-maxReferences);
  const differ = latest.some((one) => one !== String(reason));
  return { references, ...(differ && { reasons: latest }) };
}

/** The references that an event keeps. */
export function referencesIn({ references }: Event['data']): string[] {
  return Array.isArray(references) ? references.map(String) : [];
}

/** The reason of the request with this reference, one of those that the event keeps. */
export function reasonFor(data: Event['data'], reference: string): string {
  const { reason, reasons } = data;
  const own = Array.isArray(reasons) ? reasons[referencesIn(data).indexOf(reference)] : reason;
  return String(own);
}

/** The sign-in attempts since the process started, counted by method and outcome for metrics. */
export const signInCounts = remembered(() => new Map<string, number>());

/** Counts a sign-in for the metrics, by method and outcome, without the person. */
export function countSignIn(
  process: Pick<Context, 'memory'>,
  method: string,
  outcome: 'succeeded' | 'refused',
): void {
  if (isRehearsed()) return;
  const key = `${method} ${outcome}`;
  const counts = signInCounts(process);
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
