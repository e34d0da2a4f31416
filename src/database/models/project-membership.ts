import type { Account } from './account.ts';
import { column, rowOf } from './columns.ts';
import type { Origin } from './membership.ts';
import type { Project, ProjectRole } from './project.ts';

/** A member's role in a project of the organization (spec §2.3). */
export class ProjectMembership extends rowOf(
  'project_memberships',
  {
    projectId: column.key(column.to('projects')),
    accountId: column.key(column.to('accounts')),
    role: column.string<ProjectRole>(),
    /**
     * The specification's marker: group sync made this membership and may change it. A column, so
     * that reconcile's writes can be conditional on it. True exactly if the origin's kind is
     * `mapping`.
     */
    synced: column.flag(),
    origin: column.json<Origin>(),
    joinedAt: column.date(),
  },
  () => [column.index('project_memberships_account_id', ['account_id'])],
) {
  /** Present only if the query included it. */
  declare account: Account;
  /** Present only if the query included it. */
  declare project: Project;
}
