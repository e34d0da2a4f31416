import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import type { SsoConnection } from '../../../../database/models/sso-connection.ts';
import { transaction } from '../../../../database/transaction.ts';
import { Refusal } from '../../../../errors.ts';
import { tallyEvent } from '../../../foundation/events/tally.ts';
import { signInFailed } from '../../../people/sessions/failed.ts';
import { openClientSecret } from '../../../tenancy/sso/secret.ts';
import type { callbackInput } from '../../redirect/schema.ts';
import { type FlowState, secretsOf } from '../../redirect/state.ts';
import { readProof, type Said } from './claims.ts';

/**
 * Redeems the returned code for the provider's claims about the person (spec §4.1 step 4). Refuses
 * `signin_failed`.
 */
export async function proveBySso(
  ctx: Context,
  input: z.output<typeof callbackInput>,
  connection: SsoConnection,
  state: FlowState,
): Promise<Said> {
  const { code = '', state: text = '', iss } = input;
  const { issuer, clientId, groupsClaim } = connection;
  const clientSecret = openClientSecret(ctx, connection);
  const proof = await ctx.outbound
    .redeem(
      { issuer, clientId, redirectUri: state.redirectUri, clientSecret },
      {
        query: { code, state: text, ...(iss === undefined ? {} : { iss }) },
        state: text,
        ...secretsOf(ctx, state.id),
      },
    )
    .catch((error: unknown) => {
      const refused = error instanceof Refusal && error.code === 'provider_refused';
      throw refused ? signInFailed('provider_refused', error) : error;
    });
  return readProof(proof, groupsClaim);
}

/**
 * Records a refused sign-in: one event per connection and reason in a quarter of an hour
 * (security X5).
 */
export async function recordRefusedBySso(
  ctx: Context,
  connection: SsoConnection,
  refusal: Refusal,
): Promise<void> {
  const reason = reasonOf(refusal);
  const what = {
    kind: 'sso.signin.refused' as const,
    organizationId: connection.organizationId,
    subject: { type: 'sso', id: connection.id, name: connection.emailDomain ?? connection.issuer },
    data: { reason },
  };
  await transaction(() => tallyEvent(ctx, what, { of: connection.id, apart: reason }));
}

function reasonOf(refusal: Refusal): string {
  const { cause, extra } = refusal;
  // The reason of a refusal by the provider is one level deeper.
  const inner =
    typeof cause === 'object' && cause !== null && 'cause' in cause ? cause.cause : null;
  if (inner instanceof Refusal) return reasonOf(inner);
  if (typeof cause === 'object' && cause !== null && 'reason' in cause) return String(cause.reason);
  return String(extra['reason'] ?? refusal.code);
}
