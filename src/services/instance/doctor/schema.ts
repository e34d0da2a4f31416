import { z } from 'zod';
import { ref } from '../../foundation/fields.ts';

/** What to look at: the instance, and of its organizations all or one. */
export const diagnoseInput = z.strictObject({ org: ref.optional() });

export const diagnosisView = z.object({
  /** Whether no check failed. */
  ok: z.boolean(),
  checks: z.array(
    z.object({
      name: z.string(),
      ok: z.boolean(),
      expected: z.string(),
      message: z.string(),
      hint: z.string().optional(),
      /** It could not be looked at, which is no fault. */
      skipped: z.literal(true).optional(),
    }),
  ),
});
