import type { Context } from '../../../context.ts';
import type { OAuthApp } from '../../../database/models/app.ts';
import { Membership, type Role } from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { select } from '../../../database/select.ts';
import { Refusal } from '../../../errors.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';

/** The organization that an app of this account is to ask for: one that the account administers (security O9). */
export async function requireAdministered(
  ctx: Context,
  accountId: string,
  org: string,
): Promise<Organization> {
  const { organization } = await requireAuthority(ctx, 'apps.introspect', org);
  const where = { organizationId: organization.id, accountId, role: ['admin', 'owner'] };
  if ((await Membership.count({ where })) > 0) return organization;
  // Only the operator comes here: another person has been proved to be an admin.
  throw new Refusal('conflict', `The owner of the app is not an admin of ${organization.slug}.`, {
    hint: `Make the owner an admin first: idctl member role EMAIL --org ${organization.slug} --role admin`,
  });
}

/** Writes which organization an app asks for, where its admins see it; call it inside the transaction that does it. */
export function recordNamed(
  ctx: Context,
  { id, name, accountId: account }: OAuthApp,
  organization: Organization,
): Promise<void> {
  return recordEvent(ctx, {
    kind: 'app.organization.named',
    organizationId: organization.id,
    subject: { type: 'app', id, name },
    data: { account },
  });
}

const query = `SELECT o.id, o.slug, m.role FROM apps p
  JOIN memberships own ON own.organization_id = p.organization_id AND own.account_id = p.account_id
    AND own.role IN ('admin', 'owner')
  JOIN memberships m ON m.organization_id = p.organization_id AND m.account_id = $2
  JOIN organizations o ON o.id = p.organization_id
  WHERE p.id = $1`;

/**
 * The app's organization and the account's role in it, or null: where the app has none, its owner does not administer it
 * any more, or the account is no member.
 */
export async function findShared(appId: string, accountId: string) {
  const [shared = null] = await select<{ id: string; slug: string; role: Role }>(query, [appId, accountId], {
    prepared: true,
  });
  return shared;
}
