import { createProject } from '../../services/tenancy/projects/create.ts';
import { deleteProject } from '../../services/tenancy/projects/delete.ts';
import { listProjects } from '../../services/tenancy/projects/list.ts';
import { listProjectMembers } from '../../services/tenancy/projects/list-members.ts';
import { putProjectMember } from '../../services/tenancy/projects/put-member.ts';
import { removeProjectMember } from '../../services/tenancy/projects/remove-member.ts';
import { renameProject } from '../../services/tenancy/projects/rename.ts';
import {
  createProjectInput,
  listProjectMembersInput,
  listProjectsInput,
  projectMemberPage,
  projectMemberRefInput,
  projectMemberView,
  projectPage,
  projectRefInput,
  projectView,
  putProjectMemberInput,
  renameProjectInput,
} from '../../services/tenancy/projects/schema.ts';
import { route } from '../route.ts';

/** Projects and who belongs to them (spec §2.3). */
export const projectRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/orgs/:org/projects',
    summary: 'The projects: all of them to admins, to others those that they belong to',
    access: 'projects.see',
    input: listProjectsInput,
    output: projectPage,
    cli: 'project list',
    run: listProjects,
  }),
  route({
    method: 'POST',
    path: '/api/v1/orgs/:org/projects',
    summary: 'Create a project, which nobody belongs to yet',
    access: 'projects.change',
    input: createProjectInput,
    output: projectView,
    status: 201,
    cli: 'project create',
    run: createProject,
  }),
  route({
    method: 'PATCH',
    path: '/api/v1/orgs/:org/projects/:project',
    summary: 'Rename a project; its slug stays',
    access: 'projects.change',
    input: renameProjectInput,
    output: projectView,
    cli: 'project rename',
    run: renameProject,
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/orgs/:org/projects/:project',
    summary: 'Delete a project; its people stay in the organization',
    access: 'projects.change',
    input: projectRefInput,
    cli: 'project delete',
    run: deleteProject,
  }),
  route({
    method: 'GET',
    path: '/api/v1/orgs/:org/projects/:project/members',
    summary: 'Who belongs to a project, and how each came to',
    access: 'projectMembers.see',
    input: listProjectMembersInput,
    output: projectMemberPage,
    cli: 'project-member list',
    run: listProjectMembers,
  }),
  route({
    method: 'PUT',
    path: '/api/v1/orgs/:org/projects/:project/members/:user',
    summary: 'Give a member of the organization a role in a project; a synced one becomes manual',
    access: 'projectMembers.change',
    input: putProjectMemberInput,
    output: projectMemberView,
    cli: 'project-member add',
    run: putProjectMember,
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/orgs/:org/projects/:project/members/:user',
    summary: 'Take a member out of a project',
    access: 'projectMembers.change',
    input: projectMemberRefInput,
    cli: 'project-member remove',
    run: removeProjectMember,
  }),
];
