import type { NonAttribute, Sequelize } from 'sequelize';
import type { Account } from './account.ts';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';
import type { Origin } from './membership.ts';
import type { Project, ProjectRole } from './project.ts';

/** A member's role in a project of the organization (spec §2.3). */
export class ProjectMembership extends Row<ProjectMembership> {
  declare projectId: string;
  declare accountId: string;
  declare role: ProjectRole;
  /**
   * Whether group sync made this membership and may change it. True if and only if `origin.kind` is
   * `mapping`. It is a column so that updates can depend on it.
   */
  declare synced: boolean;
  declare origin: Origin;
  declare joinedAt: Date;
  /** Present only if the query included it. */
  declare account: NonAttribute<Account>;
  /** Present only if the query included it. */
  declare project: NonAttribute<Project>;
}

/** Binds the model to the open database. */
export function initProjectMembership(sequelize: Sequelize): void {
  ProjectMembership.init(
    {
      projectId: column.key(column.to('projects')),
      accountId: column.key(column.to('accounts')),
      role: column.string(),
      synced: column.flag(),
      origin: column.json(),
      joinedAt: column.date(),
    },
    table(sequelize, 'project_memberships', [
      column.index('project_memberships_account_id', ['account_id']),
    ]),
  );
}
