import type { NonAttribute, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** A project of an organization, with members of the organization, each with a role. */
export class Project extends Row<Project> {
  declare id: string;
  declare organizationId: string;
  /** Lower case, unique within the organization, and never in UUID format. */
  declare slug: string;
  declare name: string;
  declare createdAt: Date;
  /** Present only if the query included them. */
  declare memberships?: NonAttribute<{ role: ProjectRole }[]>;
}

/** Binds the model to the open database. */
export function initProject(sequelize: Sequelize): void {
  Project.init(
    {
      id: column.key(),
      organizationId: column.to('organizations'),
      slug: column.string(),
      name: column.string(),
      createdAt: column.date(),
    },
    table(sequelize, 'projects', [
      column.unique('projects_organization_slug', ['organization_id', 'slug']),
    ]),
  );
}

/** The roles of a project (spec §2.3). */
export type ProjectRole = 'viewer' | 'commenter' | 'member' | 'admin';
