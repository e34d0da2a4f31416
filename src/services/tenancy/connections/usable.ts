import type { Context } from '../../../context.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { findOwner, findVerified } from '../../foundation/domain-names/owns.ts';

/** The connection that people of the e-mail domain sign in through; null without one. */
export async function findUsable(ctx: Context, emailDomain: string): Promise<SsoConnection | null> {
  const connection = await SsoConnection.findOne({ where: { emailDomain, enabled: true } });
  return connection !== null && (await isTrusted(ctx, connection)) ? connection : null;
}

/** Whether the connection is trusted for its e-mail domain now (security I2, S6). */
export function isTrusted(ctx: Context, connection: SsoConnection): Promise<boolean> {
  return isTrustedBy(ctx, connection, async (domain) => {
    return (await findOwner(domain)) === connection.organizationId;
  });
}

/** Like `isTrusted`, for a sign-in: the domain is not removed until the transaction ends. */
export function keepTrusted(ctx: Context, connection: SsoConnection): Promise<boolean> {
  return isTrustedBy(ctx, connection, async (domain) => {
    return (await findVerified(connection.organizationId, domain)) !== null;
  });
}

async function isTrustedBy(
  { config }: Context,
  { emailDomain }: SsoConnection,
  isVerified: (domain: string) => Promise<boolean>,
): Promise<boolean> {
  if (emailDomain === null) return false;
  return config.trust.domains === 'off' || isVerified(emailDomain);
}
