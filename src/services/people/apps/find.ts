import type { Context } from '../../../context.ts';
import { OAuthApp } from '../../../database/models/app.ts';
import { Refusal } from '../../../errors.ts';
import { requireHolder } from '../tokens/whose.ts';

/** The app of this id among one's own; for the operator any, or one of the account named. */
export async function requireApp(
  ctx: Context,
  { id, user }: { id: string; user?: string | undefined },
): Promise<OAuthApp> {
  const any = ctx.actor.kind === 'operator' && user === undefined;
  const whose = any ? {} : { accountId: await requireHolder(ctx, 'me.credentials', user) };
  const app = await OAuthApp.findOne({ where: { id, ...whose }, include: 'organization' });
  if (app === null) throw noSuchApp(id);
  return app;
}

/** The refusal of an app that is not there, any more or for whoever asks. */
export function noSuchApp(id: string): Refusal {
  return new Refusal('not_found', `There is no app ${id}.`);
}
