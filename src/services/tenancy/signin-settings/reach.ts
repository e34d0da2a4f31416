import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Domain } from '../../../database/models/domain.ts';
import { Organization } from '../../../database/models/organization.ts';
import { SignInSettings } from '../../../database/models/sign-in-settings.ts';
import { operation } from '../../foundation/operation.ts';
import { findGoverningDomain } from './governing.ts';
import { settingNames } from './settings.ts';

/**
 * Names the first organization if the second, just made by the operator, makes its settings govern
 * no account.
 */
export const findOverruled = operation({
  authority: 'operator',
  input: z.strictObject({}),
  run: async (ctx) => {
    if (ctx.config.orgs.creation === 'anyone') return null;
    const [first, second, third] = await Organization.findAll({ order: ['id'], limit: 3 });
    if (first === undefined || second === undefined || third !== undefined) return null;
    const said = saysSomething(await SignInSettings.findByPk(first.id));
    return said && (await governsNobody(ctx, first)) ? first.slug : null;
  },
});

/** Whether an organization has set any sign-in setting of its own. */
export function saysSomething(settings: SignInSettings | null): boolean {
  return settings !== null && settingNames.some((name) => settings[name] !== null);
}

/**
 * Whether the organization governs no account: it has no verified domain, and does not count as the
 * only one (security O1).
 */
export async function governsNobody(
  ctx: Context,
  { id: organizationId }: Pick<Organization, 'id'>,
): Promise<boolean> {
  if ((await Domain.count({ where: { organizationId, state: 'Verified' } })) > 0) return false;
  return (await findGoverningDomain(ctx, '')).organizationId !== organizationId;
}
