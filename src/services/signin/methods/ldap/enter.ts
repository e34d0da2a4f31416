import { createHash } from 'node:crypto';
import { Transaction } from 'sequelize';
import type { Context } from '../../../../context.ts';
import { LdapConnection } from '../../../../database/models/ldap-connection.ts';
import { domainOf } from '../../../foundation/domain-names/canonical.ts';
import { findVerified, findVerifiedNames } from '../../../foundation/domain-names/owns.ts';
import { signInFailed } from '../../../people/sessions/sign-in.ts';
import type { SecondFactor } from '../../../people/two-factor/second-factor.ts';
import { attachIdentity } from '../../../tenancy/identities/attach.ts';
import { directorySettingsOf } from '../../../tenancy/ldap/connection.ts';
import { ensureMember } from '../../../tenancy/memberships/join-and-leave.ts';
import { type Begun, beginSession } from '../../begin.ts';
import type { Arrival, SeenConnection } from '../../pending.ts';
import type { DirectoryPerson } from './person.ts';

/** The connection with the settings that must stay the same until the person is let in. */
export function seenAs(connection: LdapConnection): SeenConnection {
  return { id: connection.id, settings: proofOf(connection) };
}

/**
 * Lets the person in if the connection is still the one that was asked. Call it inside the
 * sign-in's transaction.
 */
export async function enterByDirectory(
  ctx: Context,
  { connection: seen, person }: Arrival & { by: 'ldap' },
  secondFactor: SecondFactor | null,
): Promise<Begun> {
  const connection = await requireSameConnection(seen);
  return enter(ctx, connection, person, secondFactor, () => holdConnection(connection));
}

/**
 * Writes the sign-in inside its transaction, or refuses `signin_failed`. `hold` locks the
 * connection, if it is stored.
 */
export async function enter(
  ctx: Context,
  connection: { id: string; organizationId: string; uri: string },
  person: DirectoryPerson,
  secondFactor: SecondFactor | null,
  hold: () => Promise<void> = async () => {},
): Promise<Begun> {
  const email = await requireEmail(ctx, connection.organizationId, person.emails);
  // Locked after the domain, in the same order as all code that locks both.
  await hold();
  const account = await attachIdentity(ctx, {
    kind: 'ldap',
    connection,
    issuer: person.issuer,
    subject: person.subject,
    server: new URL(connection.uri).hostname,
    email,
    name: person.name ?? email.slice(0, email.indexOf('@')),
  });
  if (account === null) throw signInFailed('identity_conflict');
  // `beginSession` comes before the membership: it refuses a tombstoned person, who is then not
  // added again.
  const begun = await beginSession(ctx, account, { method: 'ldap', connection, secondFactor });
  if ('session' in begun)
    await ensureMember(ctx, connection.organizationId, account, {
      kind: 'ldap',
      by: connection.id,
    });
  return begun;
}

/** The connection as it is now, if it is still the one that was asked. */
async function requireSameConnection({ id, settings }: SeenConnection): Promise<LdapConnection> {
  const now = await LdapConnection.findByPk(id);
  if (now === null || !now.enabled || proofOf(now) !== settings)
    throw signInFailed('connection_changed');
  return now;
}

/**
 * Keeps the connection from being removed until the transaction ends, so that no session outlives
 * it.
 */
async function holdConnection({ id }: LdapConnection): Promise<void> {
  const held = await LdapConnection.findByPk(id, { lock: Transaction.LOCK.KEY_SHARE });
  if (held === null) throw signInFailed('connection_changed');
}

function proofOf(connection: LdapConnection): string {
  return createHash('sha256')
    .update(JSON.stringify(directorySettingsOf(connection)))
    .digest('base64url');
}

/** The first address on a domain that the organization has verified now (security L6, I2). */
async function requireEmail(
  ctx: Context,
  organizationId: string,
  emails: string[],
): Promise<string> {
  const [first] = emails;
  if (ctx.config.trust.domains === 'off' && first !== undefined) return first;
  // One query, as an entry may hold a thousand addresses.
  const verified = await findVerifiedNames(organizationId);
  for (const email of emails.filter((one) => verified.has(domainOf(one)))) {
    // Locked until the transaction ends, so that no link outlives the domain.
    if ((await findVerified(organizationId, domainOf(email))) !== null) return email;
  }
  throw signInFailed(emails.length === 0 ? 'email_missing' : 'email_domain_not_verified');
}
