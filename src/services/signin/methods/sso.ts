import type { z } from 'zod';
import { connectionKinds } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import type { SsoConnection } from '../../../database/models/sso-connection.ts';
import { Refusal } from '../../../errors.ts';
import { signInFailed } from '../../people/sessions/schema.ts';
import { openClientSecret, redirectUriOf } from '../../tenancy/connections/sso.ts';
import { findUsable } from '../../tenancy/connections/usable.ts';
import { readProof, type Said } from '../../tenancy/sso/claims.ts';
import { requireSameConnection } from '../../tenancy/sso/connection.ts';
import { method } from '../method.ts';
import {
  type Accepted,
  acceptState,
  beginFlow,
  type callbackInput,
  type startSsoInput,
} from '../redirect/state.ts';
import { requireReturnTo } from '../return-to.ts';
import { startSaml } from './saml.ts';
import {
  reportConnection,
  type ThroughConnection,
  throughConnection,
} from './through-connection.ts';

const { sso } = connectionKinds;

/** Starts single sign-on (spec §4.1). Returns the provider's URL, and the browser's flow cookie. */
export async function startSso(ctx: Context, input: z.output<typeof startSsoInput>) {
  const returnTo = requireReturnTo(ctx, input.returnTo);
  const connection = await findUsable(ctx, input.domain);
  if (connection === null) {
    throw new Refusal('sso_not_configured', `No single sign-on is set up for ${input.domain}.`, {
      hint: 'Sign in another way, or ask your administrator.',
    });
  }
  const given = { flow: input.flow, returnTo };
  const starting =
    connection.kind === 'saml'
      ? startSaml(ctx, connection, given)
      : startOidc(ctx, connection, given);
  return starting.catch(async (error: unknown) => {
    throw await reportConnection(ctx, connection.id, error);
  });
}

async function startOidc(
  ctx: Context,
  connection: SsoConnection,
  { flow: given, returnTo }: { flow: string | undefined; returnTo: string },
) {
  const { issuer, clientId } = connection;
  const redirectUri = redirectUriOf(ctx, connection);
  const flow = { connection: connection.id, issuer, clientId, redirectUri, returnTo };
  const { request, cookie } = beginFlow(ctx, sso.name, flow, given);
  const client = { issuer, clientId, redirectUri };
  return { authorizationUrl: await ctx.outbound.authorizationUrl(client, request), ...cookie };
}

/**
 * Single sign-on, from the callback on (spec §4.1 steps 3 to 6). Before the provider is asked,
 * `acceptState` accepts the state once, claims the code, and limits how many callbacks wait.
 */
export const bySso = method<ThroughConnection<z.output<typeof callbackInput>, Accepted>>({
  ...throughConnection,
  offered: (ctx, input, signIn) => acceptState(ctx, sso.name, input, signIn),
  look: async (ctx, { input, at: { state } }) => {
    const connection = await requireSameConnection(ctx, state);
    // The provider sent the person back with an error, or without a code.
    if (input.code === undefined || input.error !== undefined)
      throw signInFailed('refused_by_provider');
    return connection;
  },
  prove: async (ctx, { seen, at }) => {
    const said = await proveBySso(ctx, seen, at);
    return { proof: { state: at.state, said } };
  },
});

/** Redeems the code for the provider's claims (spec §4.1 step 4). Refuses with `signin_failed`. */
async function proveBySso(
  ctx: Context,
  connection: SsoConnection,
  { state, redeem }: Accepted,
): Promise<Said> {
  const { issuer, clientId, groupsClaim } = connection;
  const clientSecret = openClientSecret(ctx, connection);
  const client = { issuer, clientId, redirectUri: state.redirectUri, clientSecret };
  const proof = await redeem((response) => ctx.outbound.redeem(client, response));
  return readProof(proof, groupsClaim);
}
