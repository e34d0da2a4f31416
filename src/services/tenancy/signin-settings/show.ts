import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { SignInSettings } from '../../../database/models/sign-in-settings.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import type { signInSettingsRefInput } from './schema.ts';
import { settingsOf } from './settings.ts';

/** The organization's sign-in settings as they hold (spec §2.9). */
export async function showSignInSettings(ctx: Context, input: z.output<typeof signInSettingsRefInput>) {
  const { organization } = await requireAuthority(ctx, 'signin.see', input.org);
  return settingsOf(ctx, (await SignInSettings.findByPk(organization.id)) ?? {});
}
