import type { AccountClaims } from 'oidc-provider';
import { z } from 'zod';
import { isProvedForGood } from '../../../database/models/account.ts';
import { wholeSeconds } from '../../foundation/time.ts';
import { rolesOf } from '../../tenancy/clients/admits.ts';
import type { ClaimedPerson } from './claims.sql.ts';

/** The claims that each scope gives, in userinfo and in the ID token. */
export const claimsByScope = {
  openid: ['sub', 'sid', 'acr', 'amr', 'auth_time'],
  profile: ['name', 'preferred_username', 'given_name', 'family_name', 'locale', 'updated_at'],
  email: ['email', 'email_verified'],
  groups: ['groups', 'organization'],
};

const named = z.object({
  name: z.object({ givenName: z.string().optional(), familyName: z.string().optional() }),
});

/**
 * The claims of a member of the client's organization, without data of other organizations. For
 * a person who is not a member, only their id and session.
 */
export async function claimsOf(
  person: ClaimedPerson | null,
  accountId: string,
  sessionId: string,
  scope: string,
): Promise<AccountClaims> {
  const claims = { sub: accountId, sid: sessionId };
  if (person === null) return claims;
  const { email, emailProof, name, locale, organizationId, slug } = person;
  return {
    ...claims,
    name,
    locale,
    ...namesOfRecord(person),
    ...(email !== null && {
      email,
      email_verified: isProvedForGood({ emailProof }),
      preferred_username: email,
    }),
    ...(scope.split(' ').includes('groups') && {
      groups: await rolesOf(organizationId, accountId),
      organization: { id: organizationId, slug },
    }),
  };
}

/** The names in the organization's own record of the person, and when the record changed. */
function namesOfRecord({ resource, modifiedAt }: ClaimedPerson) {
  const { data } = named.safeParse(resource === null ? null : JSON.parse(resource));
  const { givenName, familyName } = data?.name ?? {};
  return {
    ...(givenName === undefined ? {} : { given_name: givenName }),
    ...(familyName === undefined ? {} : { family_name: familyName }),
    ...(modifiedAt === null ? {} : { updated_at: wholeSeconds(modifiedAt) }),
  };
}
