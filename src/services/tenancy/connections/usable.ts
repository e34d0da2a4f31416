import type { Context } from '../../../context.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { findOwner, findOwners, findVerified } from '../../foundation/domain-names/owns.ts';

/** The connection that people of the e-mail domain sign in through; null without one. */
export async function findUsable(ctx: Context, emailDomain: string): Promise<SsoConnection | null> {
  return (await findUsableAmong(ctx, [emailDomain])).get(emailDomain) ?? null;
}

/** `findUsable` for many domains, by domain, for those that have a connection. */
export async function findUsableAmong(
  ctx: Context,
  emailDomains: string[],
): Promise<Map<string, SsoConnection>> {
  const found = await SsoConnection.findAll({
    where: { emailDomain: emailDomains, enabled: true },
  });
  const domains = found.flatMap(({ emailDomain }) => emailDomain ?? []);
  let owners: ReturnType<typeof findOwners> | undefined;
  const usable = new Map<string, SsoConnection>();
  for (const connection of found) {
    const { emailDomain, organizationId } = connection;
    const trusted = await isTrustedBy(ctx, connection, async (domain) => {
      owners ??= findOwners(domains);
      return (await owners).get(domain) === organizationId;
    });
    if (emailDomain !== null && trusted) usable.set(emailDomain, connection);
  }
  return usable;
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
