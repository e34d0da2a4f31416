import type { Account } from '../../../database/models/account.ts';
import type { ProjectRole } from '../../../database/models/project.ts';
import { selectAmong } from '../../../database/select.ts';

// The SQL that finds synced memberships by their cause.

/** A person, and a synced membership in a project or, without `project`, in the organization. */
export interface SyncedRow extends Pick<Account, 'id' | 'email' | 'name'> {
  project?: string;
  role: ProjectRole;
  /** The id of the mapping or of the connection. */
  cause: string;
}

/** The synced memberships in projects that these connections (`by`) or mappings have given. */
export function findSyncedInProjects(
  organizationId: string,
  part: 'by' | 'mappingId',
  causes: string[],
): Promise<SyncedRow[]> {
  const cause = `m.origin ->> '${part}'`;
  return selectAmong<SyncedRow>(
    causes,
    (list, org) => `SELECT a.id, a.email, a.name, p.slug AS project, m.role, ${cause} AS cause
       FROM project_memberships m
       JOIN projects p ON p.id = m.project_id
       JOIN accounts a ON a.id = m.account_id
      WHERE ${cause} IN (${list}) AND p.organization_id = ${org} AND m.synced
      ORDER BY m.project_id, m.account_id`,
    [organizationId],
  );
}

/** The synced memberships in the organization that these mappings have given. */
export function findSynced(organizationId: string, mappingIds: string[]): Promise<SyncedRow[]> {
  return selectAmong<SyncedRow>(
    mappingIds,
    (list, organization) => `SELECT a.id, a.email, a.name, m.role, m.origin ->> 'mappingId' AS cause
       FROM memberships m JOIN accounts a ON a.id = m.account_id
      WHERE m.origin ->> 'mappingId' IN (${list}) AND m.organization_id = ${organization}
        AND m.synced ORDER BY m.account_id`,
    [organizationId],
  );
}
