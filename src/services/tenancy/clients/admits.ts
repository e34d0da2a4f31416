import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import type { Client } from '../../../database/models/client.ts';
import type { Role } from '../../../database/models/membership.ts';
import type { ProjectRole } from '../../../database/models/project.ts';
import { select } from '../../../database/select.ts';
import { pushedIn } from '../../foundation/domain-names/pushed.ts';
import { outranks, projectRoles } from '../../foundation/project-roles.ts';

/** Why a client does not admit an account. The refused person does not learn the reason. */
export type Barred = 'account_disabled' | 'not_a_member' | 'project_role_missing';

/** The facts that decide whether a client admits an account. */
export interface AdmissionFacts {
  disabledAt: unknown;
  memberRole: Role | null;
  projectRole: ProjectRole | null;
}

/** The SQL columns of `AdmissionFacts`, with the table aliases of `isBarred`. */
export const standingColumns = `a.disabled_at AS "disabledAt", m.role AS "memberRole",
    p.role AS "projectRole"`;

/**
 * The SQL to join the membership `m` of the account `a` in this organization. Omits a membership
 * for which `pushedIn` holds, because clients learn nothing about strangers (security O8).
 */
export function membershipAt(ctx: Pick<Context, 'config'>, organization: string): string {
  return `memberships m ON m.account_id = a.id AND m.organization_id = ${organization}
    AND NOT ${pushedIn(ctx)}`;
}

/**
 * Why the client does not admit the account, or null. A client admits active members of its
 * organization with the project role that the client requires. Call this at each use, because
 * membership and role can end at any time.
 */
export async function barredFrom(
  ctx: Pick<Context, 'config'>,
  client: Pick<Client, 'organizationId' | 'projectId' | 'role'>,
  accountId: string,
): Promise<Barred | null> {
  // Bypasses the ORM, because this query runs for every request that a proxy asks about.
  const [person] = await select<AdmissionFacts>(
    `SELECT ${standingColumns}
      FROM accounts a
      LEFT JOIN ${membershipAt(ctx, '$2')}
      LEFT JOIN project_memberships p ON p.account_id = a.id AND p.project_id = $3
      WHERE a.id = $1`,
    [accountId, client.organizationId, client.projectId],
    { prepared: true },
  );
  return person === undefined ? 'not_a_member' : barredBy(client, person);
}

/** Like `barredFrom`, for facts that were just read. */
export function barredBy(
  client: Pick<Client, 'projectId' | 'role'>,
  { memberRole, disabledAt, projectRole }: AdmissionFacts,
): Barred | null {
  if (memberRole === null) return 'not_a_member';
  if (disabledAt !== null) return 'account_disabled';
  if (client.projectId === null && client.role === null) return null;
  const enough =
    projectRole !== null && client.role !== null && !outranks(client.role, projectRole);
  return enough ? null : 'project_role_missing';
}

/**
 * Like `barredFrom`, for code that then writes a credential. Holds the account, as code that ends a
 * membership does. So a membership ends before this check, or its end also removes the credential.
 * Call it first in the transaction.
 */
export async function holdAdmitted(
  ctx: Pick<Context, 'config'>,
  client: Parameters<typeof barredFrom>[1],
  accountId: string,
): Promise<Barred | null> {
  await hold.accounts([accountId], 'beside');
  return barredFrom(ctx, client, accountId);
}

/** The role in the organization, then `project:role` for each project, as clients get them. */
export async function rolesOf(organizationId: string, accountId: string): Promise<string[]> {
  const rows = await select<{ slug: string; role: string }>(
    `SELECT '' AS slug, role FROM memberships WHERE organization_id = $1 AND account_id = $2
      UNION ALL SELECT p.slug, m.role
        FROM project_memberships m JOIN projects p ON p.id = m.project_id
        WHERE p.organization_id = $1 AND m.account_id = $2 ORDER BY slug`,
    [organizationId, accountId],
    { prepared: true },
  );
  return rows.map(({ slug, role }) => (slug === '' ? role : `${slug}:${role}`));
}

/**
 * The SQL condition that the client refuses the person. It needs the aliases `a` (account), `m`
 * (membership, by `membershipAt`), `p` (project membership) and `c` (client).
 */
export const isBarred = `(a.disabled_at IS NOT NULL OR m.account_id IS NULL
  OR ${rankInSql('p.role')} < ${rankInSql('c.role')})`;

function rankInSql(role: string): string {
  const ranks = projectRoles.map((row, at) => `WHEN '${row.role}' THEN ${at + 1}`);
  return `CASE ${role} ${ranks.join(' ')} ELSE 0 END`;
}
