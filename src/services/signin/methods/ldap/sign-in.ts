import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import type { LdapConnection } from '../../../../database/models/ldap-connection.ts';
import { Refusal } from '../../../../errors.ts';
import { directoryLimits, entryLimit } from '../../../foundation/limits/ldap.ts';
import type { Limit } from '../../../foundation/limits/limit.ts';
import { giveBack, spend } from '../../../foundation/limits/spend.ts';
import { inWordsOf, signInFailed } from '../../../people/sessions/failed.ts';
import { syncDirectoryGroups } from '../../../provisioning/mappings/reconcile.ts';
import type { signInByLdapInput } from '../../../tenancy/ldap/schema.ts';
import { chooseDirectory } from '../../../tenancy/signin-settings/directory.ts';
import type { TwoSteps } from '../../pending.ts';
import { reasonOfFailure } from '../../refused.ts';
import { admit } from './admit.ts';
import type { Person } from './person.ts';
import { recordRefused, recordUnreached } from './refused.ts';
import { provePerson } from './visit.ts';

type Input = z.output<typeof signInByLdapInput>;

/**
 * LDAP sign-in (spec §4.2). Whatever is wrong is one answer outside; only a directory that cannot be talked with is told
 * apart (security L7). The attempt is counted in a transaction of its own before the directory hears of it, and given
 * back when it was not the credential that was refused (security L8).
 */
export async function signInByLdap(ctx: Context, input: Input, steps?: TwoSteps) {
  const connection = await chooseDirectory(ctx, input);
  const limits = directoryLimits(ctx, input.username, connection?.organizationId ?? null);
  await spend(ctx, limits);
  if (connection === null) throw inWordsOf('ldap', signInFailed('no_directory'));
  let person: Person | null = null;
  try {
    const proved = await provePerson(ctx, connection, input, async (found) => {
      person = found;
      limits.push(await spendTry(ctx, connection, found));
    });
    const session = await admit(ctx, connection, proved, { totpCode: input.totpCode, steps });
    await giveBack(ctx, limits);
    await syncDirectoryGroups(ctx, connection, session.user.id, proved.groups);
    return session;
  } catch (error) {
    const reason = reasonOfFailure(error);
    if (reason === null || reason.startsWith('service_')) await giveBack(ctx, limits);
    if (reason !== null) await recordRefused(ctx, connection, { reason, person });
    throw await told(ctx, connection, error);
  }
}

/** Counts a try of the entry's password, whatever name it was found by; one too many is answered like a wrong one (security L7, L8). */
async function spendTry(
  ctx: Context,
  { organizationId }: LdapConnection,
  person: Pick<Person, 'issuer' | 'subject'>,
): Promise<Limit> {
  const limit = entryLimit(ctx, person, organizationId);
  await spend(ctx, [limit]).catch((error: unknown) => {
    const tooMany = error instanceof Refusal && error.code === 'too_many_requests';
    throw tooMany ? signInFailed('too_many_tries') : error;
  });
  return limit;
}

/** Where the directory is, and why it cannot be talked with, is for the organization's admins alone. */
async function told(ctx: Context, connection: LdapConnection, error: unknown): Promise<unknown> {
  if (!(error instanceof Refusal) || error.kind !== 'upstream') return inWordsOf('ldap', error);
  await recordUnreached(ctx, connection, error);
  return new Refusal('upstream_failed', 'The directory could not be reached.', {
    hint: 'Try again later, or ask your administrator.',
    cause: error,
  });
}
