import { z } from 'zod';

export const movedTable = z.object({ name: z.string(), rows: z.int(), checksum: z.string() });

/** The answer of a move: both addresses without passwords, and what was copied. */
export const movedView = z.object({
  from: z.string(),
  to: z.string(),
  rows: z.int(),
  tables: z.array(movedTable),
});

/** What a move would copy, and each reason why it would be refused now. */
export const foreseenView = movedView.extend({
  tables: z.array(movedTable.omit({ checksum: true })),
  refusals: z.array(
    z.object({ code: z.string(), message: z.string(), hint: z.string().nullable() }),
  ),
});
