import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Domain } from '../../database/models/domain.ts';
import { Organization } from '../../database/models/organization.ts';
import { SignInSettings } from '../../database/models/sign-in-settings.ts';
import { requireAuthority, requireOperator } from '../authority/require.ts';
import type { signInSettingsRefInput } from './schema.ts';
import { settingNames } from './settings.ts';

/** Whether the organization's sign-in settings hold for no address: what whoever sets them has to be told. */
export async function showsNoReach(ctx: Context, input: z.output<typeof signInSettingsRefInput>) {
  const { organization } = await requireAuthority(ctx, 'signin.see', input.org);
  return governsNobody(organization);
}

/** The first organization, by its slug, if its settings have lost everybody to the second that was just created; for the operator. */
export async function findOverruled(ctx: Context): Promise<string | null> {
  requireOperator(ctx);
  const [first, second, third] = await Organization.findAll({ order: ['id'], limit: 3 });
  if (first === undefined || second === undefined || third !== undefined) return null;
  const said = saysSomething(await SignInSettings.findByPk(first.id));
  return said && (await governsNobody(first)) ? first.slug : null;
}

/** Whether an organization has a word of its own about ways to sign in. */
export function saysSomething(settings: SignInSettings | null): boolean {
  return settings !== null && settingNames.some((name) => settings[name] !== null);
}

/** Whether it has verified no domain and is not the only organization, so that it governs nobody (security O1). */
export async function governsNobody({ id: organizationId }: Organization): Promise<boolean> {
  if ((await Domain.count({ where: { organizationId, state: 'Verified' } })) > 0) return false;
  return (await Organization.count()) > 1;
}
