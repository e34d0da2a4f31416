import type { Origin, Role } from '../../../database/models/membership.ts';
import type { ProjectRole } from '../../../database/models/project.ts';
import { execute, selectAmong } from '../../../database/select.ts';

// The SQL that writes the roles that mappings give. It does not change memberships that are not
// synced.

/** A role in a project, and the mapping that gives it. */
interface Given {
  projectId: string;
  role: ProjectRole;
  origin: Origin;
}

/** Gives these members of a project the role. */
export async function updateGiven(accountIds: string[], set: Given): Promise<void> {
  await updateAmong(
    accountIds,
    (list, next) => `UPDATE project_memberships SET role = ${next(0)}, origin = ${next(1)}
      WHERE account_id IN (${list}) AND project_id = ${next(2)} AND synced`,
    [set.role, JSON.stringify(set.origin), set.projectId],
  );
}

/** Removes these members from a project. */
export async function deleteGiven(accountIds: string[], projectId: string): Promise<void> {
  await updateAmong(
    accountIds,
    (list, next) => `DELETE FROM project_memberships
      WHERE account_id IN (${list}) AND project_id = ${next(0)} AND synced`,
    [projectId],
  );
}

async function updateAmong(
  accountIds: string[],
  sql: (list: string, next: (at: number) => string) => string,
  more: unknown[],
): Promise<void> {
  await selectAmong(
    accountIds,
    (list, next) => `${sql(list, (at) => `$${Number(next.slice(1)) + at}`)} RETURNING 1`,
    more,
  );
}

/** Gives a member the role in the organization. */
export async function updateOrgRole(
  organizationId: string,
  accountId: string,
  { role, origin }: { role: Role; origin: Origin },
): Promise<void> {
  await execute(
    `UPDATE memberships SET role = $3, origin = $4
      WHERE organization_id = $1 AND account_id = $2 AND synced`,
    [organizationId, accountId, role, JSON.stringify(origin)],
  );
}
