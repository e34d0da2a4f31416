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
     * Whether group sync created this membership and may change it. It is true exactly if the
     * origin's kind is `mapping`. It is a column of its own, so that updates can be conditional on
     * it.
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
