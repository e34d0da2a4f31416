import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { requireConnection } from './find.ts';
import type { ldapRefInput } from './schema.ts';
import { viewLdap } from './settings.ts';

/** The organization's directory, without the bind password. */
export async function showLdap(ctx: Context, input: z.output<typeof ldapRefInput>) {
  const { organization } = await requireAuthority(ctx, 'ldap.see', input.org);
  return viewLdap(await requireConnection(organization));
}
