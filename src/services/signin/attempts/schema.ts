import { z } from 'zod';
import { attemptStages } from '../../../database/models/sso-attempt.ts';
import { id, instant, ref } from '../../foundation/fields.ts';
import { pageInput, pageOf } from '../../foundation/page.ts';

/** `reference` is the one shown on the page of a refused sign-in. */
export const listAttemptsInput = z.strictObject({
  org: ref,
  reference: z.string().max(100).optional(),
  ...pageInput,
});

export const attemptView = z.object({
  id,
  at: instant,
  connection: id,
  /** How far the sign-in came. */
  stage: z.enum(attemptStages),
  ok: z.boolean(),
  /** Why it was refused. */
  code: z.string().optional(),
  email: z.string().optional(),
  /** As received; null if the claim was unreadable. */
  groups: z.array(z.string()).nullable().optional(),
  /** The page of a refused sign-in shows it, and the events keep it. */
  reference: z.string().optional(),
});

export const attemptPage = pageOf(attemptView);
