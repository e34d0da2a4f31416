import type { Context } from '../../../context.ts';
import { ScimToken } from '../../../database/models/scim-token.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { Refusal } from '../../../errors.ts';
import type { Next } from '../../../next.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { findOwner } from '../../foundation/domain-names/owns.ts';
import { findConnections } from '../connections/kinds.ts';

/**
 * Whether an organization manages the address: it has verified the domain, and has an enabled
 * connection or a SCIM token. With `trust.domains: off`, an enabled connection of the domain is enough.
 */
export async function isManaged(
  { config }: Pick<Context, 'config'>,
  email: string | null,
): Promise<boolean> {
  if (email === null) return false;
  const domain = domainOf(email);
  const organizationId = await findOwner(domain);
  if (organizationId === null) {
    if (config.trust.domains !== 'off') return false;
    return (await SsoConnection.count({ where: { emailDomain: domain, enabled: true } })) > 0;
  }
  const connections = await findConnections({ organizationId });
  if (connections.some(({ row }) => row.enabled)) return true;
  return (await ScimToken.count({ where: { organizationId } })) > 0;
}

/** Refuses with `address_managed` if an organization manages this address of an account. */
export async function requireUnmanaged(
  ctx: Pick<Context, 'config'>,
  email: string | null,
): Promise<void> {
  if (email === null || !(await isManaged(ctx, email))) return;
  throw managed(email, [
    'While an organization manages it, the address cannot be changed.',
    {
      say: 'Only the operator can delete the account',
      operation: 'user.delete',
      with: { user: email },
      by: 'operator',
    },
  ]);
}

/** Refuses with `address_managed` if an organization manages the address that a person asks for. */
export async function requireNewUnmanaged(
  ctx: Pick<Context, 'config'>,
  email: string,
): Promise<void> {
  if (await isManaged(ctx, email)) throw managed(email, 'Use another address.');
}

function managed(email: string, hint: Next): Refusal {
  const message = `An organization manages the addresses on ${domainOf(email)}.`;
  return new Refusal('address_managed', message, { hint });
}
