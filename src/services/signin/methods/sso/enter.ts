import type { Context } from '../../../../context.ts';
import type { Account } from '../../../../database/models/account.ts';
import type { SsoConnection } from '../../../../database/models/sso-connection.ts';
import { lockAccount } from '../../../people/accounts/account.ts';
import { signInFailed } from '../../../people/sessions/sign-in.ts';
import type { SecondFactor } from '../../../people/two-factor/second-factor.ts';
import { attachIdentity } from '../../../tenancy/identities/attach.ts';
import { ensureMember } from '../../../tenancy/memberships/join-and-leave.ts';
import { type Begun, beginSession } from '../../begin.ts';
import type { Arrival } from '../../pending.ts';
import { type Profile, profileOf, type Said } from './claims.ts';
import { asksOwnSecondFactor } from './own-second-factor.ts';
import { requireSameConnection } from './same-connection.ts';

/**
 * Lets the person in by the connection and the domain as they are at this moment (security S6).
 * Call it inside the sign-in's transaction.
 */
export async function enterBySso(
  ctx: Context,
  { state, said }: Arrival & { by: 'sso' },
  secondFactor: SecondFactor | null,
): Promise<Begun> {
  const connection = await requireSameConnection(ctx, state);
  const account = await attach(ctx, connection, said);
  // Locked before its memberships are read: the account may be joining another organization now.
  await lockAccount(account.id);
  // `beginSession` comes before the membership: it refuses a tombstoned person, who is then not
  // added again.
  const asked = (await asksOwnSecondFactor(connection, account.id)) ? { secondFactor } : {};
  const begun = await beginSession(ctx, account, { method: 'sso', connection, ...asked });
  if ('session' in begun)
    await ensureMember(ctx, connection.organizationId, account, { kind: 'sso', by: connection.id });
  return begun;
}

async function attach(ctx: Context, connection: SsoConnection, said: Said): Promise<Account> {
  const profile = profileOn(connection, said);
  if (!profile.ok) throw signInFailed(profile.reason);
  // A provider without any subject is accepted where e-mail is the key (security I1).
  const subject = said.subject ?? (ctx.config.trust.domains === 'off' ? profile.email : null);
  if (subject === null) throw signInFailed('subject_missing');
  const { email, name } = profile;
  const account = await attachIdentity(ctx, {
    kind: 'sso',
    connection,
    issuer: said.issuer,
    subject,
    server: null,
    email,
    name,
  });
  if (account === null) throw signInFailed('identity_conflict');
  return account;
}

function profileOn({ emailDomain, ignoreEmailVerified }: SsoConnection, said: Said): Profile {
  if (emailDomain === null) return { ok: false, reason: 'domain_not_verified' };
  return profileOf(said, { emailDomain, ignoreEmailVerified });
}
