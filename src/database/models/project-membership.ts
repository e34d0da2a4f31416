import type { NonAttribute, Sequelize } from 'sequelize';
import type { Account } from './account.ts';
import { flag, index, instantColumn, json, key, Row, table, textColumn, to } from './columns.ts';
import type { Origin } from './membership.ts';
import type { Project, ProjectRole } from './project.ts';

/** A member of the organization in one of its projects (spec §2.3). */
export class ProjectMembership extends Row<ProjectMembership> {
  declare projectId: string;
  declare accountId: string;
  declare role: ProjectRole;
  /**
   * The specification's marker: group sync made this membership and may change it. A column, so
   * that reconcile's writes can be conditional on it. True exactly if the origin's kind is
   * `mapping`.
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
      projectId: key(to('projects')),
      accountId: key(to('accounts')),
      role: textColumn(),
      synced: flag(),
      origin: json(),
      joinedAt: instantColumn(),
    },
    table(sequelize, 'project_memberships', [
      index('project_memberships_account_id', ['account_id']),
    ]),
  );
}
