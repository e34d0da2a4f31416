import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { requireConnection } from './find.ts';
import type { ssoRefInput } from './schema.ts';
import { viewSso } from './view.ts';

/** The organization's connection, without its secret. */
export async function showSso(ctx: Context, input: z.output<typeof ssoRefInput>) {
  const { organization } = await requireAuthority(ctx, 'sso.see', input.org);
  return viewSso(ctx, await requireConnection(organization));
}
