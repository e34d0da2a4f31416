import { z } from 'zod';
import { ref } from '../../foundation/fields.ts';

/** The scope of a diagnosis: the instance with all of its organizations, or with one. */
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
      /** The check could not run, which is no fault. */
      skipped: z.literal(true).optional(),
    }),
  ),
});
