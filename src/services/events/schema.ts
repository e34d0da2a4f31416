import { z } from 'zod';
import { id, instant, ref } from '../fields.ts';
import { pageInput } from '../page.ts';

export const listEventsInput = z.strictObject({
  org: ref,
  kind: z.string().min(1).max(100).optional(),
  ...pageInput,
});

export const eventView = z.object({
  id,
  kind: z.string(),
  at: instant,
  actor: z.object({ kind: z.string(), id: z.string().optional(), name: z.string().optional() }),
  subject: z.object({ type: z.string(), id: z.string(), name: z.string().optional() }).nullable(),
  data: z.record(z.string(), z.unknown()),
});

/** Oldest first; `nextCursor` is where to go on from, also when nothing more has happened yet. */
export const eventPage = z.object({
  items: z.array(eventView),
  nextCursor: id.nullable(),
  hasMore: z.boolean(),
});
