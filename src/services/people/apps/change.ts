import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { OAuthApp } from '../../../database/models/app.ts';
import { transaction } from '../../../database/transaction.ts';
import { noSuchApp, requireApp } from './find.ts';
import { recordNamed, requireAdministered } from './organization.ts';
import type { changeAppInput, changeOwnAppInput } from './schema.ts';
import { viewApp } from './view.ts';

type Input = z.output<typeof changeOwnAppInput> & Partial<z.output<typeof changeAppInput>>;

/** Names the organization about whose tokens an app may ask (security O9). */
export async function changeApp(ctx: Context, input: Input) {
  const app = await requireApp(ctx, input);
  const organization = await requireAdministered(ctx, app.accountId, input.organization);
  await transaction(async () => {
    const [changed] = await OAuthApp.update({ organizationId: organization.id }, { where: { id: app.id } });
    if (changed === 0) throw noSuchApp(app.id);
    if (app.organizationId !== organization.id) await recordNamed(ctx, app, organization);
  });
  return viewApp(app, organization);
}
