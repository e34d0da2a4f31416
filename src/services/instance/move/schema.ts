import { z } from 'zod';
import { nextText } from '../../../next.ts';

export const movedTable = z.object({ name: z.string(), rows: z.int(), checksum: z.string() });

/** The result of a move: both addresses without passwords, and the copied tables. */
export const movedView = z.object({
  from: z.string(),
  to: z.string(),
  rows: z.int(),
  tables: z.array(movedTable),
});

/** The tables that a move would copy, and the reasons to refuse it now. */
export const foreseenView = movedView.extend({
  tables: z.array(movedTable.omit({ checksum: true })),
  refusals: z.array(z.object({ code: z.string(), message: z.string(), hint: nextText.nullable() })),
});
