import { createHash } from 'node:crypto';
import { Transaction } from 'sequelize';
import type { Context } from '../../../../context.ts';
import { Account } from '../../../../database/models/account.ts';
import { LdapConnection } from '../../../../database/models/ldap-connection.ts';
import { transaction } from '../../../../database/transaction.ts';
import { retryOnceWhenOvertaken } from '../../../../database/unique.ts';
import { domainOf } from '../../../foundation/domain-names/canonical.ts';
import { findVerified, findVerifiedNames } from '../../../foundation/domain-names/owns.ts';
import { signInFailed } from '../../../people/sessions/failed.ts';
import { answerSecondFactor, type SecondFactor } from '../../../people/two-factor/answer.ts';
import { accountAsked } from '../../../people/two-factor/refusals.ts';
import { attachIdentity } from '../../../tenancy/identities/attach.ts';
import { settingsOf } from '../../../tenancy/ldap/settings.ts';
import { ensureMember } from '../../../tenancy/memberships/join.ts';
import { beginSession } from '../../begin.ts';
import { holdForSecondFactor, type SeenConnection, type TwoSteps } from '../../pending.ts';
import type { Person } from './person.ts';

/**
 * Lets the proven person in: account, membership and session in one transaction (spec §4.2 step 4). Only there is it
 * known whose account it is; when that asks for a second factor, everything is taken back, the code is looked at
 * outside, where a wrong one is counted, and then it is done again (security P12).
 */
export async function admit(
  ctx: Context,
  connection: LdapConnection,
  person: Person,
  { totpCode, steps }: { totpCode: string | undefined; steps: TwoSteps | undefined },
) {
  const seen = seenAs(connection);
  try {
    return await enterOnce(ctx, seen, person, null);
  } catch (error) {
    const asked = accountAsked(error);
    const account = asked === null ? null : await Account.findByPk(asked);
    if (account === null) throw error;
    if (steps !== undefined && totpCode === undefined) {
      throw await holdForSecondFactor(ctx, account.id, { by: 'ldap', connection: seen, person, ...steps });
    }
    return enterOnce(ctx, seen, person, await answerSecondFactor(ctx, account, totpCode));
  }
}

/** What is to be the same still when the person is let in. */
export function seenAs(connection: LdapConnection): SeenConnection {
  return { id: connection.id, settings: proofOf(connection) };
}

/** Lets the person in by the connection, if it is still the one that was asked. */
export function enterOnce(
  ctx: Context,
  seen: SeenConnection,
  person: Person,
  secondFactor: SecondFactor | null,
) {
  return retryOnceWhenOvertaken(() =>
    transaction(async () => {
      const connection = await requireSameConnection(seen);
      return enter(ctx, connection, person, secondFactor, () => holdConnection(connection));
    }),
  );
}

/**
 * What the sign-in writes, inside its transaction; refuses `signin_failed`, or `second_factor_required`. `hold` holds
 * the connection, where there is one.
 */
export async function enter(
  ctx: Context,
  connection: { id: string; organizationId: string; uri: string },
  person: Person,
  secondFactor: SecondFactor | null,
  hold: () => Promise<void> = async () => {},
) {
  const email = await requireEmail(ctx, connection.organizationId, person.emails);
  // After the domain, as everything that holds both does.
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
  // Asked by begin.ts before the membership is written: a tombstoned person is not added again.
  const session = await beginSession(ctx, account, { method: 'ldap', connection, secondFactor });
  await ensureMember(ctx, connection.organizationId, account, { kind: 'ldap', by: connection.id });
  return session;
}

/** The connection as it is now, if it is still the one that was asked. */
async function requireSameConnection({ id, settings }: SeenConnection): Promise<LdapConnection> {
  const now = await LdapConnection.findByPk(id);
  if (now === null || !now.enabled || proofOf(now) !== settings) throw signInFailed('connection_changed');
  return now;
}

/** The connection is not removed until the transaction ends, so that no session outlives it. */
async function holdConnection({ id }: LdapConnection): Promise<void> {
  const held = await LdapConnection.findByPk(id, { lock: Transaction.LOCK.KEY_SHARE });
  if (held === null) throw signInFailed('connection_changed');
}

function proofOf(connection: LdapConnection): string {
  return createHash('sha256')
    .update(JSON.stringify(settingsOf(connection)))
    .digest('base64url');
}

/** The first address on a domain that the organization has verified now (security L6, I2). */
async function requireEmail(ctx: Context, organizationId: string, emails: string[]): Promise<string> {
  const [first] = emails;
  if (ctx.config.trust.domains === 'off' && first !== undefined) return first;
  // Read at once: a directory may name a thousand addresses.
  const verified = await findVerifiedNames(organizationId);
  for (const email of emails.filter((one) => verified.has(domainOf(one)))) {
    // Held until the end, so that no link outlives the domain.
    if ((await findVerified(organizationId, domainOf(email))) !== null) return email;
  }
  throw signInFailed(emails.length === 0 ? 'email_missing' : 'email_domain_not_verified');
}
