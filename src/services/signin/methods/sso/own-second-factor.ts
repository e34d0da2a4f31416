import type { SsoConnection } from '../../../../database/models/sso-connection.ts';
import { belongsElsewhere } from '../../../tenancy/identities/reclaim.ts';

/**
 * Whether sign-in through the connection asks for the account's own second factor; if not, the
 * provider's is trusted (security P12).
 */
export async function asksOwnSecondFactor(
  { requireLocalTwoFactor, organizationId }: SsoConnection,
  accountId: string,
): Promise<boolean> {
  return requireLocalTwoFactor || (await belongsElsewhere(accountId, organizationId));
}
