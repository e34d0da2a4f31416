import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { Refusal } from '../../../errors.ts';
import { requireHolder } from './whose.ts';

/** The token of this id among one's own; for the operator any, or one of the account named. */
export async function requireToken(
  ctx: Context,
  { id, user }: { id: string; user?: string | undefined },
): Promise<AccessToken> {
  const any = ctx.actor.kind === 'operator' && user === undefined;
  const whose = any ? {} : { accountId: await requireHolder(ctx, 'me.credentials', user) };
  const token = await AccessToken.findOne({ where: { id, ...whose } });
  if (token === null) throw noSuchToken(id);
  return token;
}

/** The refusal of a token that is not there, any more or for whoever asks. */
export function noSuchToken(id: string): Refusal {
  return new Refusal('not_found', `There is no token ${id}.`);
}
