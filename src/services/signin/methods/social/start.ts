import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import { requireUser } from '../../../foundation/authority/require.ts';
import { requireSocialClient, type SocialProvider } from '../../../tenancy/identities/providers.ts';
import { beginFlow } from '../../redirect/begin.ts';
import { requireReturnTo } from '../../redirect/return-to.ts';
import type { startSocialInput } from './schema.ts';
import { toldOfProvider } from './told.ts';

type Input = z.output<typeof startSocialInput>;

/**
 * Starts a social sign-in: returns the provider's URL, and the flow cookie that binds the sign-in
 * to this browser.
 */
export function startSocial(ctx: Context, provider: SocialProvider, input: Input) {
  return begin(ctx, provider, input, {});
}

/**
 * Starts to link a social account to the signed-in person's account, whatever its address. Another
 * person's request cannot begin this (it is no GET), and the callback wants the same person
 * (security O5).
 */
export function startLinking(ctx: Context, provider: SocialProvider, input: Input) {
  const { accountId } = requireUser(ctx, 'me.credentials');
  return begin(ctx, provider, input, { linkTo: accountId });
}

async function begin(
  ctx: Context,
  provider: SocialProvider,
  input: Input,
  link: { linkTo?: string },
) {
  const returnTo = requireReturnTo(ctx, input.returnTo);
  const { issuer, clientId, redirectUri } = requireSocialClient(ctx, provider);
  const what = { connection: provider, issuer, clientId, redirectUri, returnTo, ...link };
  const { request, cookie } = beginFlow(ctx, 'social', what, input.flow);
  const asking = ctx.outbound.socialUrl({ provider, issuer, clientId, redirectUri }, request);
  const authorizationUrl = await asking.catch(async (error: unknown) => {
    throw await toldOfProvider(ctx, provider, error);
  });
  return { authorizationUrl, ...cookie };
}
