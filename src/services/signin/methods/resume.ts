import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { refreshSession } from '../../people/sessions/operations.ts';
import type { resumeInput } from '../../people/sessions/sign-in.ts';
import { requireReturnTo } from '../redirect/return-to.ts';

/** Refreshes the session for a page without script, and sends the page back to where it was. */
export async function resumeSession(ctx: Context, input: z.output<typeof resumeInput>) {
  const returnTo = requireReturnTo(ctx, input.returnTo);
  return { ...(await refreshSession(ctx, input)), returnTo };
}
