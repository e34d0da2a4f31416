import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { randomToken } from '../../crypto/secret.ts';
import { SsoConnection } from '../../database/models/sso-connection.ts';
import { Refusal } from '../../errors.ts';
import { requireReturnTo } from '../return-to.ts';
import { after } from '../sessions/lifetimes.ts';
import type { startSsoInput } from './schema.ts';
import { browserProof, newStateId, sealState, secretsOf, stateSeconds } from './state.ts';
import { isTrusted } from './trusted.ts';
import { redirectUriOf } from './view.ts';

const flowCookie = /^[A-Za-z0-9_-]{43}$/;

/**
 * The provider's address to which the person goes (spec §4.1 start), and the flow cookie that binds
 * the sign-in to this browser; a browser that has one keeps it, so that two tabs do not disturb each other.
 */
export async function startSso(ctx: Context, input: z.output<typeof startSsoInput>) {
  const returnTo = requireReturnTo(ctx, input.returnTo);
  const connection = await SsoConnection.findOne({ where: { emailDomain: input.domain, enabled: true } });
  if (connection === null || !(await isTrusted(ctx, connection))) {
    throw new Refusal('sso_not_configured', `No single sign-on is set up for ${input.domain}.`, {
      hint: 'Sign in another way, or ask your administrator.',
    });
  }
  const flow = input.flow !== undefined && flowCookie.test(input.flow) ? input.flow : randomToken(256);
  const id = newStateId();
  const { issuer, clientId } = connection;
  const redirectUri = redirectUriOf(ctx, connection);
  const state = sealState(ctx, {
    id,
    connection: connection.id,
    issuer,
    clientId,
    redirectUri,
    returnTo,
    browser: browserProof(ctx, id, flow),
    expires: Math.ceil(after(ctx.now, stateSeconds).getTime() / 1000),
  });
  const client = { issuer, clientId, redirectUri };
  const authorizationUrl = await ctx.outbound.authorizationUrl(client, { state, ...secretsOf(ctx, id) });
  return { authorizationUrl, flow, flowExpiresIn: stateSeconds };
}
