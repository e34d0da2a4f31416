import { z } from 'zod';
import type { Event, EventActor } from '../../../database/models/event.ts';
import { id, instant } from '../fields.ts';
import { type EventName, eventKinds, eventNames } from './kinds.ts';

/** A kind of event, `group.*` or `*`. The refusal lists the possible values. */
export const kindPattern = z
  .string()
  .refine((text) => kindsOf(text).length > 0, { error: ({ input }) => noKind(String(input)) });

/** The kinds that match a pattern. */
export function kindsOf(pattern: string): EventName[] {
  return eventNames.filter((name) => isWanted(name, [pattern]));
}

/** The person, program or system that caused an event. */
export const actorView = z.object({
  kind: z.string(),
  id: z.string().optional(),
  name: z.string().optional(),
});

export const eventView = z
  .object({
    id,
    kind: z.string(),
    at: instant,
    actor: actorView,
    subject: z.object({ type: z.string(), id: z.string(), name: z.string().optional() }).nullable(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({
    // Built when the API document is requested, not at each start.
    get oneOf() {
      return eventNames.map(describeKind);
    },
  });

/** A page of events, oldest first. `nextCursor` is set even if no newer event exists yet. */
export const eventPage = z.object({
  items: z.array(eventView),
  nextCursor: id.nullable(),
  hasMore: z.boolean(),
});

/**
 * An event for the operator. The list of all events adds the slug of the organization and the
 * address of the account.
 */
export const operatorEventView = z.object({
  ...eventView.shape,
  organization: z.string().nullable().optional(),
  address: z.string().nullable().optional(),
});
export const operatorEventPage = eventPage.extend({ items: z.array(operatorEventView) });

/** A kind with its data, for the API document. */
function describeKind(name: EventName) {
  const { about, data } = eventKinds[name];
  const { $schema: _, ...schema } = z.toJSONSchema(data, { io: 'output' });
  return { title: name, description: about, properties: { kind: { const: name }, data: schema } };
}

/** The message for an unknown kind. It lists the kinds of the same group, or else the groups. */
function noKind(name: string): string {
  return `${name.slice(0, 100)} is not a kind of event; choose from ${alike(name).join(', ')}`;
}

function alike(name: string): string[] {
  const groupOf = (text: string) => text.slice(0, text.indexOf('.'));
  const inGroup = eventNames.filter((known) => groupOf(known) === groupOf(`${name}.`));
  return inGroup.length > 0
    ? inGroup
    : [...new Set(eventNames.map((known) => `${groupOf(known)}.*`))];
}

/** An event as organizations and webhooks get it, with the fields in the documented order. */
export function viewEvent(event: Pick<Event, 'id' | 'kind' | 'at' | 'actor' | 'subject' | 'data'>) {
  const { id, kind, at, actor, subject, data } = event;
  return { id, kind, at: at.toISOString(), actor: withoutSystemAccount(actor), subject, data };
}

/** Only the operator sees which system account acted on the host (security X9). */
export function withoutSystemAccount(actor: EventActor): EventActor {
  return actor.kind === 'operator' ? { kind: 'operator', name: 'operator' } : actor;
}

/** Whether the kind matches one of the patterns: a kind, `group.*`, or `*`. Null matches all. */
export function isWanted(kind: string, patterns: string[] | null): boolean {
  return patterns === null || patterns.some((pattern) => fits(kind, pattern));
}

function fits(kind: string, pattern: string): boolean {
  return (
    pattern === '*' ||
    (pattern.endsWith('.*') ? kind.startsWith(pattern.slice(0, -1)) : kind === pattern)
  );
}
