import type { AccountClaims } from 'oidc-provider';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { EmailProof } from '../../../database/models/account.ts';
import { isProvedForGood } from '../../../database/models/account.ts';
import { select } from '../../../database/select.ts';
import { wholeSeconds } from '../../foundation/time.ts';
import { membershipAt, rolesOf } from '../../tenancy/clients/admits.ts';
import type { ClientRow } from './client-row.ts';

/** The claims that each scope gives, in userinfo and in the ID token. */
export const claimsByScope = {
  openid: ['sub', 'sid', 'acr', 'amr', 'auth_time'],
  profile: ['name', 'preferred_username', 'given_name', 'family_name', 'locale', 'updated_at'],
  email: ['email', 'email_verified'],
  groups: ['groups', 'organization'],
};

interface Row {
  email: string | null;
  emailProof: EmailProof;
  name: string;
  locale: string;
  organizationId: string;
  slug: string;
  /** The organization's SCIM record of the person. */
  resource: string | null;
  modifiedAt: Date | null;
}

const named = z.object({
  name: z.object({ givenName: z.string().optional(), familyName: z.string().optional() }),
});

/** The claims of a member of the client's organization, without data of other organizations. */
export async function claimsOf(
  ctx: Pick<Context, 'config'>,
  client: Pick<ClientRow, 'organizationId'>,
  accountId: string,
  sessionId: string,
  scope: string,
): Promise<AccountClaims> {
  const [person] = await select<Row>(
    `SELECT a.email, a.email_proof AS "emailProof", a.name, a.locale, o.id AS "organizationId", o.slug, r.resource, r.modified_at AS "modifiedAt"
      FROM accounts a JOIN ${membershipAt(ctx, '$2')}
      JOIN organizations o ON o.id = m.organization_id
      LEFT JOIN scim_records r ON r.account_id = a.id AND r.organization_id = o.id
      WHERE a.id = $1`,
    [accountId, client.organizationId],
    { prepared: true, columns: { modifiedAt: 'time' } },
  );
  const claims = { sub: accountId, sid: sessionId };
  if (person === undefined) return claims;
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
function namesOfRecord({ resource, modifiedAt }: Row) {
  const { data } = named.safeParse(resource === null ? null : JSON.parse(resource));
  const { givenName, familyName } = data?.name ?? {};
  return {
    ...(givenName === undefined ? {} : { given_name: givenName }),
    ...(familyName === undefined ? {} : { family_name: familyName }),
    ...(modifiedAt === null ? {} : { updated_at: wholeSeconds(modifiedAt) }),
  };
}
