import { createHash } from 'node:crypto';
import { Transaction } from 'sequelize';
import type { Context } from '../../../../context.ts';
import { LdapConnection } from '../../../../database/models/ldap-connection.ts';
import { transaction } from '../../../../database/transaction.ts';
import { Refusal } from '../../../../errors.ts';
import type { Reason } from '../../../../reasons.ts';
import { findUsableEmail } from '../../../foundation/domain-names/owns.ts';
import { tallyEvent } from '../../../foundation/events/record.ts';
import { entryLimit } from '../../../foundation/limits/ldap.ts';
import { type Limit, spend } from '../../../foundation/limits/limit.ts';
import { inWordsOf, signInFailed } from '../../../people/sessions/schema.ts';
import type { SecondFactor } from '../../../people/two-factor/second-factor.ts';
import { isApproved } from '../../../tenancy/connections/approval.ts';
import { ownerRefused, requireApprovedForOwner } from '../../../tenancy/connections/owners.ts';
import { attachIdentity } from '../../../tenancy/identities/attach.ts';
import { aboutLdap, directorySettingsOf } from '../../../tenancy/ldap/connection.ts';
import { type DirectoryPerson, findPerson } from '../../../tenancy/ldap/find-person.ts';
import { ensureMember } from '../../../tenancy/memberships/join-and-leave.ts';
import { type Begun, beginSession } from '../../begin.ts';

/**
 * Asks the directory for the user name, then whether the password is right (spec §4.2 steps 1-3).
 * Before the password is tried, `found` gets the entry, and `countedForEntry` its counted limit.
 * Refuses `signin_failed`. If the directory cannot be reached, the error is that of `ctx.outbound`.
 */
export async function provePerson(
  ctx: Context,
  connection: LdapConnection,
  given: { username: string; password: string },
  told: { found: (person: DirectoryPerson) => void; countedForEntry: (limit: Limit) => void },
): Promise<{ connection: SeenConnection; person: DirectoryPerson }> {
  const visit = await ctx.outbound.visitDirectory(connection);
  const one = await findPerson(ctx, visit, connection, given.username).catch((error: unknown) => {
    const tooMany = error instanceof Refusal && error.code === 'too_many_requests';
    throw tooMany ? signInFailed('service_too_many_tries') : error;
  });
  if (!one.ok) throw signInFailed(one.reason);
  told.found(one.person);
  told.countedForEntry(await spendTry(ctx, connection, one.person));
  const proved = await visit.prove({ dn: one.person.dn, password: given.password });
  if (!proved.ok) throw signInFailed(proved.reason);
  return { connection: seenAs(connection), person: one.person };
}

/**
 * Counts an attempt at the entry's password, whatever user name found the entry. An attempt over
 * the limit gets the same answer as a wrong password (security L7, L8).
 */
async function spendTry(
  ctx: Context,
  { organizationId }: LdapConnection,
  person: Pick<DirectoryPerson, 'issuer' | 'subject'>,
): Promise<Limit> {
  const limit = entryLimit(ctx, person, organizationId);
  await spend(ctx, [limit]).catch((error: unknown) => {
    const tooMany = error instanceof Refusal && error.code === 'too_many_requests';
    throw tooMany ? signInFailed('too_many_tries') : error;
  });
  return limit;
}

/** A connection, with a digest of its settings when the directory was asked. */
export interface SeenConnection {
  id: string;
  settings: string;
}

/** The connection as seen now: its settings must stay the same until the session begins. */
export function seenAs(connection: LdapConnection): SeenConnection {
  return { id: connection.id, settings: proofOf(connection) };
}

/** Admits the person, inside the sign-in's transaction, if the connection has not changed. */
export async function enterByDirectory(
  ctx: Context,
  { connection: seen, person }: { connection: SeenConnection; person: DirectoryPerson },
  secondFactor: SecondFactor | null,
): Promise<Begun> {
  const connection = await requireSameConnection(seen);
  return enter(ctx, connection, person, secondFactor, () => holdConnection(connection));
}

/** Attaches the person and begins the session, or refuses. `hold` locks the stored connection. */
export async function enter(
  ctx: Context,
  connection: Pick<LdapConnection, 'id' | 'organizationId' | 'uri' | 'approved'>,
  person: DirectoryPerson,
  secondFactor: SecondFactor | null,
  hold: () => Promise<void> = async () => {},
): Promise<Begun> {
  const email = await findUsableEmail(ctx, connection.organizationId, person.emails);
  if (email === null)
    throw signInFailed(person.emails.length === 0 ? 'email_missing' : 'email_domain_not_verified');
  // The connection is locked after the domain, as in all code that locks both.
  await hold();
  const attached = await attachIdentity(ctx, {
    kind: 'ldap',
    connection,
    issuer: person.issuer,
    subject: person.subject,
    server: new URL(connection.uri).hostname,
    email,
    name: person.name ?? email.slice(0, email.indexOf('@')),
    unapproved: !isApproved(connection),
  });
  if (attached === null) throw signInFailed('identity_conflict');
  const { account, unapproved } = attached;
  await requireApprovedForOwner(connection, account.id);
  // `beginSession` comes first, because it refuses a removed person. `ensureMember` would admit that
  // person again.
  const begun = await beginSession(ctx, account, {
    method: 'ldap',
    connection,
    secondFactor,
    unapproved,
  });
  if ('session' in begun)
    await ensureMember(ctx, connection.organizationId, account, {
      kind: 'ldap',
      by: connection.id,
    });
  return begun;
}

/** The stored connection, unless it was changed, disabled or removed since the search. */
async function requireSameConnection({ id, settings }: SeenConnection): Promise<LdapConnection> {
  const now = await LdapConnection.findByPk(id);
  if (now === null || !now.enabled || proofOf(now) !== settings)
    throw signInFailed('connection_changed');
  return now;
}

/** Locks the connection against removal until the transaction ends: no session may outlive it. */
async function holdConnection({ id, approved }: LdapConnection): Promise<void> {
  const held = await LdapConnection.findByPk(id, { lock: Transaction.LOCK.KEY_SHARE });
  if (held?.approved !== approved) throw signInFailed('connection_changed');
}

function proofOf(connection: LdapConnection): string {
  return createHash('sha256')
    .update(JSON.stringify(directorySettingsOf(connection)))
    .digest('base64url');
}

/**
 * Records a refused sign-in: one counted event per connection, reason and entry in 15 minutes. All
 * user names without an entry count as one (security X5).
 */
export async function recordRefusedByDirectory(
  ctx: Context,
  connection: LdapConnection,
  { reason, person }: { reason: Reason; person: DirectoryPerson | null },
): Promise<void> {
  const data = { reason, ...(person === null ? {} : { entry: person.dn }) };
  const kind = reason === ownerRefused ? 'ldap.owner.refused' : 'ldap.signin.refused';
  const what = { kind, ...aboutLdap(connection), data } as const;
  const apart = `${reason} ${person?.subject ?? ''}`;
  await transaction(() => tallyEvent(ctx, what, { of: connection.id, apart }));
}

/**
 * Records a directory that could not be used. Returns the error that the person sees: only
 * admins learn where the directory is (security L7).
 */
export async function reportDirectory(ctx: Context, connection: LdapConnection, error: unknown) {
  if (!(error instanceof Refusal) || error.kind !== 'upstream') return inWordsOf('ldap', error);
  await recordUnreached(ctx, connection, error);
  return new Refusal('upstream_failed', 'The directory could not be used.', {
    hint: 'Try again later, or ask your administrator.',
    cause: error,
  });
}

/** Records in detail, for the organization's admins, why the directory could not be used. */
async function recordUnreached(
  ctx: Context,
  connection: LdapConnection,
  { message, code, failure }: Refusal,
): Promise<void> {
  const reason = failure?.reason ?? code;
  const what = {
    kind: 'ldap.directory.failed' as const,
    ...aboutLdap(connection),
    data: { reason, message },
  };
  await transaction(() => tallyEvent(ctx, what, { of: connection.id, apart: reason }));
}
