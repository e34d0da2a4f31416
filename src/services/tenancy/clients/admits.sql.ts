import type { Context } from '../../../context.ts';
import type { Client } from '../../../database/models/client.ts';
import type { Role } from '../../../database/models/membership.ts';
import type { ProjectRole } from '../../../database/models/project.ts';
import { select } from '../../../database/select.ts';
import { pushedIn } from '../../foundation/domain-names/pushed.sql.ts';
import { projectRoles } from '../../foundation/project-roles.ts';

// The SQL of `admits.ts`. It bypasses the ORM, because proxies and clients need it for each
// request.

/** The facts that decide whether an account may use a client. */
export interface AdmissionFacts {
  disabledAt: unknown;
  memberRole: Role | null;
  projectRole: ProjectRole | null;
}

/** The columns of `AdmissionFacts`, with the table aliases of `isBarred`. */
export const standingColumns = `a.disabled_at AS "disabledAt", m.role AS "memberRole",
    p.role AS "projectRole"`;

/**
 * The SQL to join the membership `m` of the account `a` in this organization. Omits a membership
 * for which `pushedIn` holds, because clients must not learn about strangers (security O8).
 */
export function membershipAt(ctx: Pick<Context, 'config'>, organization: string): string {
  return `memberships m ON m.account_id = a.id AND m.organization_id = ${organization}
    AND NOT ${pushedIn(ctx)}`;
}

/** A client's organization, and the project and role that it requires. */
export type Requirements = Pick<Client, 'organizationId' | 'projectId' | 'role'>;

/** The account's standing at a client; null if the account is gone. */
export async function readStanding(
  ctx: Pick<Context, 'config'>,
  { organizationId, projectId }: Requirements,
  accountId: string,
): Promise<AdmissionFacts | null> {
  const [person = null] = await select<AdmissionFacts>(
    `SELECT ${standingColumns}
      FROM accounts a
      LEFT JOIN ${membershipAt(ctx, '$2')}
      LEFT JOIN project_memberships p ON p.account_id = a.id AND p.project_id = $3
      WHERE a.id = $1`,
    [accountId, organizationId, projectId],
    { prepared: true },
  );
  return person;
}

/** The role in the organization, with an empty slug, then the role in each project. */
export function readRoles(
  organizationId: string,
  accountId: string,
): Promise<{ slug: string; role: string }[]> {
  return select<{ slug: string; role: string }>(
    `SELECT '' AS slug, role FROM memberships WHERE organization_id = $1 AND account_id = $2
      UNION ALL SELECT p.slug, m.role
        FROM project_memberships m JOIN projects p ON p.id = m.project_id
        WHERE p.organization_id = $1 AND m.account_id = $2 ORDER BY slug`,
    [organizationId, accountId],
    { prepared: true },
  );
}

/**
 * The condition that the client refuses the person, as `barredBy` decides. It needs the aliases `a`
 * (account), `m` (membership, by `membershipAt`), `p` (project membership) and `c` (client).
 */
export const isBarred = `(a.disabled_at IS NOT NULL OR m.account_id IS NULL
  OR ${rankInSql('p.role')} < ${rankInSql('c.role')})`;

function rankInSql(role: string): string {
  const ranks = projectRoles.map((row, at) => `WHEN '${row.role}' THEN ${at + 1}`);
  return `CASE ${role} ${ranks.join(' ')} ELSE 0 END`;
}

/** An application that a person can open. */
export interface OpenApplication {
  name: string;
  homeUrl: string;
  organization: string;
}

/** The clients that have a home page and that the account may use now, by name, at most `max`. */
export function findAdmitting(
  ctx: Pick<Context, 'config'>,
  accountId: string,
  max: number,
): Promise<OpenApplication[]> {
  return select<OpenApplication>(
    `SELECT c.name, c.home_url AS "homeUrl", o.name AS organization
      FROM accounts a
      JOIN clients c ON c.home_url IS NOT NULL AND c.suspended_at IS NULL
      JOIN ${membershipAt(ctx, 'c.organization_id')}
      JOIN organizations o ON o.id = c.organization_id
      LEFT JOIN project_memberships p ON p.account_id = a.id AND p.project_id = c.project_id
      WHERE a.id = $1 AND NOT ${isBarred}
      ORDER BY lower(c.name), c.id LIMIT $2`,
    [accountId, max],
  );
}
