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

/** The columns of a member: the account `a`, the membership `m`, and the tables of `claimedJoins`. */
export const claimedColumns = `a.email, a.email_proof AS "emailProof", a.name AS "personName",
    a.locale, o.id AS "memberOf", o.slug, cr.resource, cr.modified_at AS "modifiedAt"`;

/** The tables of the organization of the membership `m`. */
export const claimedJoins = `LEFT JOIN organizations o ON o.id = m.organization_id
  LEFT JOIN scim_records cr ON cr.account_id = m.account_id AND cr.organization_id = m.organization_id`;

/** The kinds of these columns. */
export const claimedKinds = { modifiedAt: 'time' } as const;

/** These columns as a query returns them; without a membership, `memberOf` is null. */
export interface ClaimedColumns extends Omit<ClaimedPerson, 'organizationId' | 'name'> {
  personName: string;
  memberOf: string | null;
}

/** Builds a member from these columns; null without a membership. */
export function claimedOf(row: ClaimedColumns): ClaimedPerson | null {
  const { memberOf, personName: name, email, emailProof, locale, slug, resource, modifiedAt } = row;
  if (memberOf === null) return null;
  return { email, emailProof, name, locale, organizationId: memberOf, slug, resource, modifiedAt };
}

/** The member of the organization, by `membershipAt`; null for other accounts. */
export async function readPerson(
  ctx: Pick<Context, 'config'>,
  organizationId: string,
  accountId: string,
): Promise<ClaimedPerson | null> {
  const [row] = await select<ClaimedColumns>(
    `SELECT ${claimedColumns} FROM accounts a JOIN ${membershipAt(ctx, '$2')} ${claimedJoins}
      WHERE a.id = $1`,
    [accountId, organizationId],
    { prepared: true, columns: claimedKinds },
  );
  return row === undefined ? null : claimedOf(row);
}
