import {
  addProjectMember,
  changeProjectMember,
  listProjectMembers,
  putProjectMember,
  removeProjectMember,
} from '../../services/tenancy/projects/members.ts';
import {
  createProject,
  deleteProject,
  listProjects,
  renameProject,
} from '../../services/tenancy/projects/operations.ts';
import { route } from '../route.ts';

/** Projects and their members (spec §2.3). */
export const projectRoutes = [
  route('GET', '/api/v1/orgs/:org/projects', listProjects, {
    summary: 'The projects: for admins all projects, for others their own',
    cli: 'project list',
  }),
  route('POST', '/api/v1/orgs/:org/projects', createProject, {
    summary: 'Create a project without members',
    dryRun: true,
    status: 201,
    cli: 'project create',
  }),
  route('PATCH', '/api/v1/orgs/:org/projects/:project', renameProject, {
    summary: 'Rename a project; its slug stays',
    dryRun: true,
    cli: 'project rename',
  }),
  route('DELETE', '/api/v1/orgs/:org/projects/:project', deleteProject, {
    summary: 'Delete a project; its members stay in the organization',
    cli: 'project delete',
  }),
  route('GET', '/api/v1/orgs/:org/projects/:project/members', listProjectMembers, {
    summary: 'The members of a project, and how each was added',
    cli: 'project-member list',
  }),
  route('POST', '/api/v1/orgs/:org/projects/:project/members', addProjectMember, {
    summary: 'Add a member of the organization to a project',
    dryRun: true,
    status: 201,
    cli: 'project-member add',
  }),
  route('PATCH', '/api/v1/orgs/:org/projects/:project/members/:user', changeProjectMember, {
    summary: "Change a member's project role; a synced member becomes manual",
    dryRun: true,
    cli: 'project-member role',
  }),
  route('PUT', '/api/v1/orgs/:org/projects/:project/members/:user', putProjectMember, {
    summary: 'Give a member of the organization a project role; a synced member becomes manual',
    dryRun: true,
    cli: 'project-member add',
  }),
  route('DELETE', '/api/v1/orgs/:org/projects/:project/members/:user', removeProjectMember, {
    summary: 'Remove a member from a project',
    cli: 'project-member remove',
  }),
];
