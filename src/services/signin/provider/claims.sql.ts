import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { select } from '../../../database/select.ts';
import { membershipAt } from '../../tenancy/clients/admits.sql.ts';

/** A member as the claims name them. */
export interface ClaimedPerson extends Pick<Account, 'email' | 'emailProof' | 'name' | 'locale'> {
  organizationId: string;
  slug: string;
  /** The organization's SCIM record of the person, as JSON. */
  resource: string | null;
  modifiedAt: Date | null;
}

/** The member of the organization, by `membershipAt`; null for other accounts. */
export async function readPerson(
  ctx: Pick<Context, 'config'>,
  organizationId: string,
  accountId: string,
): Promise<ClaimedPerson | null> {
  const [person = null] = await select<ClaimedPerson>(
    `SELECT a.email, a.email_proof AS "emailProof", a.name, a.locale, o.id AS "organizationId", o.slug, r.resource, r.modified_at AS "modifiedAt"
      FROM accounts a JOIN ${membershipAt(ctx, '$2')}
      JOIN organizations o ON o.id = m.organization_id
      LEFT JOIN scim_records r ON r.account_id = a.id AND r.organization_id = o.id
      WHERE a.id = $1`,
    [accountId, organizationId],
    { prepared: true, columns: { modifiedAt: 'time' } },
  );
  return person;
}
