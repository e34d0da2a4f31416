import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import { SsoConnection } from '../../../../database/models/sso-connection.ts';
import { Refusal } from '../../../../errors.ts';
import { isTrusted, redirectUriOf } from '../../../tenancy/sso/connection.ts';
import { beginFlow } from '../../redirect/begin.ts';
import { requireReturnTo } from '../../redirect/return-to.ts';
import type { startSsoInput } from '../../redirect/schema.ts';
import { toldOfConnection } from './unreached.ts';

/**
 * Starts single sign-on (spec §4.1 start): returns the provider's URL, and the flow cookie that
 * binds the sign-in to this browser.
 */
export async function startSso(ctx: Context, input: z.output<typeof startSsoInput>) {
  const returnTo = requireReturnTo(ctx, input.returnTo);
  const connection = await SsoConnection.findOne({
    where: { emailDomain: input.domain, enabled: true },
  });
  if (connection === null || !(await isTrusted(ctx, connection))) {
    throw new Refusal('sso_not_configured', `No single sign-on is set up for ${input.domain}.`, {
      hint: 'Sign in another way, or ask your administrator.',
    });
  }
  const { issuer, clientId } = connection;
  const redirectUri = redirectUriOf(ctx, connection);
  const flow = { connection: connection.id, issuer, clientId, redirectUri, returnTo };
  const { request, cookie } = beginFlow(ctx, 'sso', flow, input.flow);
  const client = { issuer, clientId, redirectUri };
  const authorizationUrl = ctx.outbound
    .authorizationUrl(client, request)
    .catch(async (error: unknown) => {
      throw await toldOfConnection(ctx, connection.id, error);
    });
  return { authorizationUrl: await authorizationUrl, ...cookie };
}
