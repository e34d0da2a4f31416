import { listEvents } from '../../services/foundation/events/list.ts';
import { eventPage, listEventsInput } from '../../services/foundation/events/schema.ts';
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
import {
  createOrganization,
  deleteOrganization,
  listOrganizations,
  renameOrganization,
  showOrganization,
} from '../../services/tenancy/organizations/operations.ts';
import { route } from '../route.ts';

/** Organizations, their members and what happened in them. */
export const organizationRoutes = [
  route('GET', '/api/v1/orgs', listOrganizations, {
    summary: 'The organizations of the person signed in',
    cli: 'org list',
  }),
  route('POST', '/api/v1/orgs', createOrganization, {
    summary: 'Create an organization; its creator becomes owner',
    status: 201,
    cli: 'org create',
  }),
  route('GET', '/api/v1/orgs/:org', showOrganization, {
    summary: 'One organization',
    cli: 'org show',
  }),
  route('PATCH', '/api/v1/orgs/:org', renameOrganization, {
    summary: 'Rename an organization',
    cli: 'org rename',
  }),
  route('DELETE', '/api/v1/orgs/:org', deleteOrganization, {
    summary: 'Delete an organization; its accounts stay',
    cli: 'org delete',
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
  route({
    method: 'GET',
    path: '/api/v1/orgs/:org/events',
    summary: 'What happened, oldest first',
    access: 'events.see',
    input: listEventsInput,
    output: eventPage,
    cli: 'event list',
    run: listEvents,
  }),
];
