import { z } from 'zod';
import { id, instant, ref } from '../fields.ts';
import { pageInput } from '../page.ts';
import { type EventName, eventKinds, eventNames } from './kinds.ts';
import { isWanted } from './wanted.ts';

/** A kind of event that there is, `group.*`, or `*`; what is none is told those that begin alike. */
export const kindPattern = z.string().refine((text) => kindsOf(text).length > 0, {
  error: ({ input }) => noKind(String(input)),
});

/** The kinds that a pattern stands for. */
export function kindsOf(pattern: string): EventName[] {
  return eventNames.filter((name) => isWanted(name, [pattern]));
}

const since = z.union(
  [z.iso.datetime({ offset: true }), z.string().regex(/^\d{1,5}[smhd]$/)],
  'must be a time such as 2026-11-20T12:00:00Z, or how long ago that was: 30m, 24h, 7d',
);

export const listEventsInput = z.strictObject({
  org: ref,
  kind: kindPattern.optional(),
  since: since.optional(),
  ...pageInput,
});
/** As the operator may ask: of the whole instance. */
export const listAllEventsInput = listEventsInput.partial({ org: true });

export const eventView = z
  .object({
    id,
    kind: z.string(),
    at: instant,
    actor: z.object({ kind: z.string(), id: z.string().optional(), name: z.string().optional() }),
    subject: z.object({ type: z.string(), id: z.string(), name: z.string().optional() }).nullable(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({
    // Made when the document of the API is asked for, and not at every start.
    get oneOf() {
      return eventNames.map(describeKind);
    },
  });

/** Oldest first; `nextCursor` is where to go on from, also when nothing more has happened yet. */
export const eventPage = z.object({
  items: z.array(eventView),
  nextCursor: id.nullable(),
  hasMore: z.boolean(),
});

/** Over all organizations with the slug of each, and the address of whom an event is about; of one, the view itself. */
export const operatorEventView = z.object({
  ...eventView.shape,
  organization: z.string().nullable().optional(),
  address: z.string().nullable().optional(),
});
export const operatorEventPage = eventPage.extend({ items: z.array(operatorEventView) });

/** A kind with what it says, for the document of the API. */
function describeKind(name: EventName) {
  const { about, data } = eventKinds[name];
  const { $schema: _, ...schema } = z.toJSONSchema(data, { io: 'output' });
  return { title: name, description: about, properties: { kind: { const: name }, data: schema } };
}

/** What is said of a name that is no kind of event: those that begin alike, or else the groups. */
function noKind(name: string): string {
  return `${name.slice(0, 100)} is no kind of event; there are ${alike(name).join(', ')}`;
}

function alike(name: string): string[] {
  const groupOf = (text: string) => text.slice(0, text.indexOf('.'));
  const inGroup = eventNames.filter((known) => groupOf(known) === groupOf(`${name}.`));
  return inGroup.length > 0 ? inGroup : [...new Set(eventNames.map((known) => `${groupOf(known)}.*`))];
}
