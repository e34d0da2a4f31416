import { execute } from '../../../database/select.ts';

/**
 * Drops what the account has in the organization's projects. Call it after the organization's own membership was
 * dropped in the same transaction: whoever gives out project memberships holds that row.
 */
export async function leaveProjects(organizationId: string, accountId: string): Promise<void> {
  await execute(
    `DELETE FROM project_memberships WHERE account_id = $1
        AND project_id IN (SELECT id FROM projects WHERE organization_id = $2)`,
    [accountId, organizationId],
  );
}
