import { listEvents } from '../../services/foundation/events/operations.ts';
import { addMember } from '../../services/tenancy/memberships/add.ts';
import { changeMemberRole } from '../../services/tenancy/memberships/change-role.ts';
import { leaveOrganization } from '../../services/tenancy/memberships/leave.ts';
import { listMembers } from '../../services/tenancy/memberships/list.ts';
import { removeMember } from '../../services/tenancy/memberships/remove.ts';
import {
  addMemberInput,
  changeMemberRoleInput,
  leaveOrganizationInput,
  listMembersInput,
  memberPage,
  memberRefInput,
  memberView,
} from '../../services/tenancy/memberships/schema.ts';
import { createOrganization } from '../../services/tenancy/organizations/create.ts';
import { deleteOrganization } from '../../services/tenancy/organizations/delete.ts';
import { listOrganizations } from '../../services/tenancy/organizations/list.ts';
import { renameOrganization } from '../../services/tenancy/organizations/rename.ts';
import {
  createOrganizationInput,
  listOrganizationsInput,
  organizationPage,
  organizationRefInput,
  organizationView,
  renameOrganizationInput,
} from '../../services/tenancy/organizations/schema.ts';
import { showOrganization } from '../../services/tenancy/organizations/show.ts';
import { route } from '../route.ts';

/** Organizations, their members and what happened in them. */
export const organizationRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/orgs',
    summary: 'The organizations of the person signed in',
    access: 'organizations.list',
    input: listOrganizationsInput,
    output: organizationPage,
    cli: 'org list',
    run: listOrganizations,
  }),
  route({
    method: 'POST',
    path: '/api/v1/orgs',
    summary: 'Create an organization; its creator becomes owner',
    access: 'organizations.create',
    input: createOrganizationInput,
    output: organizationView,
    status: 201,
    cli: 'org create',
    run: createOrganization,
  }),
  route({
    method: 'GET',
    path: '/api/v1/orgs/:org',
    summary: 'One organization',
    access: 'organization.see',
    input: organizationRefInput,
    output: organizationView,
    cli: 'org show',
    run: showOrganization,
  }),
  route({
    method: 'PATCH',
    path: '/api/v1/orgs/:org',
    summary: 'Rename an organization',
    access: 'organization.rename',
    input: renameOrganizationInput,
    output: organizationView,
    cli: 'org rename',
    run: renameOrganization,
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/orgs/:org',
    summary: 'Delete an organization; its accounts stay',
    access: 'organization.delete',
    input: organizationRefInput,
    cli: 'org delete',
    run: deleteOrganization,
  }),
  route({
    method: 'GET',
    path: '/api/v1/orgs/:org/members',
    summary: 'The members',
    access: 'members.see',
    input: listMembersInput,
    output: memberPage,
    cli: 'member list',
    run: listMembers,
  }),
  route({
    method: 'POST',
    path: '/api/v1/orgs/:org/members',
    summary: 'Add an existing account on a verified domain of the organization; invite others',
    access: 'members.change',
    input: addMemberInput,
    output: memberView,
    status: 201,
    cli: 'member add',
    run: addMember,
  }),
  route({
    method: 'PATCH',
    path: '/api/v1/orgs/:org/members/:user',
    summary: 'Give a member another role',
    access: 'members.change',
    input: changeMemberRoleInput,
    output: memberView,
    cli: 'member role',
    run: changeMemberRole,
  }),
  // Before the route of any member, whose key it would be.
  route({
    method: 'DELETE',
    path: '/api/v1/orgs/:org/members/me',
    summary: 'Leave the organization; the last owner stays',
    access: 'members.leave',
    input: leaveOrganizationInput,
    run: leaveOrganization,
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/orgs/:org/members/:user',
    summary: 'Take a member out; the account stays',
    access: 'members.change',
    input: memberRefInput,
    cli: 'member remove',
    run: removeMember,
  }),
  route('GET', '/api/v1/orgs/:org/events', listEvents, {
    summary: 'What happened, oldest first',
    cli: 'event list',
  }),
];
