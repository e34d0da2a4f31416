import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { connectionKinds } from '../../../../connection-kinds.ts';
import type { Context } from '../../../../context.ts';
import { hold } from '../../../../database/hold.ts';
import { LdapConnection } from '../../../../database/models/ldap-connection.ts';
import { Refusal } from '../../../../errors.ts';
import { findUsableEmail } from '../../../foundation/domain-names/owns.ts';
import { directoryLimits, entryLimit } from '../../../foundation/limits/ldap.ts';
import { type Limit, spend } from '../../../foundation/limits/limit.ts';
import { signInFailed } from '../../../people/sessions/schema.ts';
import type { SecondFactor } from '../../../people/two-factor/second-factor.ts';
import { syncDirectoryGroups } from '../../../provisioning/mappings/reconcile.ts';
import { isApproved } from '../../../tenancy/connections/approval.ts';
import { directorySettingsOf } from '../../../tenancy/connections/ldap.ts';
import { requireApprovedForOwner } from '../../../tenancy/connections/owners.ts';
import { attachIdentity } from '../../../tenancy/identities/attach.ts';
import { type DirectoryPerson, findPerson } from '../../../tenancy/ldap/find-person.ts';
import type { signInByLdapInput } from '../../../tenancy/ldap/schema.ts';
import { ensureMember } from '../../../tenancy/memberships/join-and-leave.ts';
import { chooseDirectory } from '../../../tenancy/signin-settings/methods.ts';
import { type Begun, beginSession } from '../../begin.ts';
import { type Attempt, type Entering, method } from '../../method.ts';
import { reasonOfFailure } from '../../refused.ts';
import { recordRefusedByDirectory, reportDirectory } from './record.ts';

const directory = connectionKinds.ldap;

interface ByDirectory {
  input: z.output<typeof signInByLdapInput>;
  /** The connection of the organization, if it has one that is enabled. */
  at: LdapConnection | null;
  /** The connection, and the entry of the user name once it is found. */
  seen: { connection: LdapConnection; entry: DirectoryPerson | null };
  proof: Proof;
}

interface Proof {
  connection: SeenConnection;
  person: DirectoryPerson;
  returnTo: string;
}

/**
 * The sign-in through an organization's directory (spec §4.2). The attempt counts for user name and
 * client before the directory is asked, then for the entry. The counts are given back on success,
 * on any error except `signin_failed`, and on a fault of the service account (security L8).
 */
export const byDirectory = method<ByDirectory>({
  name: directory.name,
  offered: async (ctx, input, signIn) => signIn(await chooseDirectory(ctx, input)),
  limits: {
    of: (ctx, { input, at }) => directoryLimits(ctx, input.username, at?.organizationId ?? null),
    count: spend,
    givesBack: 'afterCommit',
    wrong: isWrongPassword,
  },
  look: async (_, { at: connection }) => {
    if (connection === null) throw signInFailed('no_directory');
    return { connection, entry: null };
  },
  prove: proveByDirectory,
  secondFactor: { inTwoSteps: 'onPages', given: (input) => input },
  enter: enterByDirectory,
  syncGroups: (ctx, { connection, person }, accountId) =>
    syncDirectoryGroups(ctx, connection.id, accountId, person.groups),
  returnTo: ({ returnTo }) => returnTo,
  words: directory.name,
  events: {
    refused: async (ctx, { seen: { connection, entry: person } }, error) => {
      const reason = reasonOfFailure(error);
      if (reason !== null) await recordRefusedByDirectory(ctx, connection, { reason, person });
    },
    failed: async (ctx, connection, error) =>
      connection === null ? error : reportDirectory(ctx, connection, error),
  },
});

/**
 * Whether a guess was wrong. `service_…` means that the service account failed: no password was
 * tried.
 */
function isWrongPassword(error: unknown): boolean {
  const reason = reasonOfFailure(error);
  return reason !== null && !reason.startsWith('service_');
}

/**
 * Asks the directory for the user name, then whether the password is right (spec §4.2 steps 1-3).
 * Refuses with `signin_failed`. If the directory cannot be reached, the error is that of
 * `ctx.outbound`.
 */
async function proveByDirectory(
  ctx: Context,
  { input, seen, limits, returnTo }: Attempt<ByDirectory>,
): Promise<{ proof: Proof }> {
  const { connection } = seen;
  const visit = await ctx.outbound.directoryClient(connection);
  const one = await findPerson(ctx, visit, connection, input.username).catch((error: unknown) => {
    const tooMany = error instanceof Refusal && error.code === 'too_many_requests';
    throw tooMany ? signInFailed('service_too_many_tries') : error;
  });
  if (!one.ok) throw signInFailed(one.reason);
  const { person } = one;
  // Known before the password is tried: the event names the entry, and its count is given back too.
  seen.entry = person;
  limits.push(await spendTry(ctx, connection, person));
  const proved = await visit.prove({ dn: person.dn, password: input.password });
  if (!proved.ok) throw signInFailed(proved.reason);
  return { proof: { connection: seenAs(connection), person, returnTo } };
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
interface SeenConnection {
  id: string;
  settings: string;
}

/** The connection as it is now: its settings must stay the same until the session begins. */
export function seenAs(connection: LdapConnection): SeenConnection {
  return { id: connection.id, settings: proofOf(connection) };
}

/** Signs the person in, inside the sign-in's transaction, if the connection has not changed. */
async function enterByDirectory(
  ctx: Context,
  { connection: seen, person }: Proof,
  { secondFactor }: Pick<Entering, 'secondFactor'>,
): Promise<Begun> {
  const connection = await requireSameConnection(seen);
  return enter(ctx, connection, person, secondFactor, () => keepConnection(connection));
}

/** Attaches the person and begins the session, or refuses. `keep` locks the stored connection. */
export async function enter(
  ctx: Context,
  connection: Pick<LdapConnection, 'id' | 'organizationId' | 'uri' | 'approved'>,
  person: DirectoryPerson,
  secondFactor: SecondFactor | null,
  keep: () => Promise<void> = async () => {},
): Promise<Begun> {
  const email = await findUsableEmail(ctx, connection.organizationId, person.emails);
  if (email === null)
    throw signInFailed(person.emails.length === 0 ? 'email_missing' : 'email_domain_not_verified');
  await keep();
  const attached = await attachIdentity(ctx, {
    kind: directory.name,
    connection,
    issuer: person.issuer,
    subject: person.subject,
    server: new URL(connection.uri).hostname,
    keysSince: null,
    email,
    name: person.name ?? email.slice(0, email.indexOf('@')),
    unapproved: !isApproved(connection),
  });
  if (attached === null) throw signInFailed('identity_conflict');
  const { account, unapproved } = attached;
  await requireApprovedForOwner(connection, account.id);
  // `beginSession` comes first, because it refuses a removed person. `ensureMember` would make that
  // person a member again.
  const begun = await beginSession(ctx, account, {
    method: directory.name,
    connection,
    secondFactor,
    unapproved,
  });
  if ('session' in begun)
    await ensureMember(ctx, connection.organizationId, account, {
      kind: directory.name,
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

/** Locks the connection until the transaction ends: sessions must not outlive it. */
async function keepConnection({ id, approved }: LdapConnection): Promise<void> {
  const held = await hold.ldap({ id }, 'kept');
  if (held?.approved !== approved) throw signInFailed('connection_changed');
}

function proofOf(connection: LdapConnection): string {
  return createHash('sha256')
    .update(JSON.stringify(directorySettingsOf(connection)))
    .digest('base64url');
}
