import { addMember } from '../../services/tenancy/memberships/add.ts';
import {
  changeMemberRole,
  leaveOrganization,
  listMembers,
  removeMember,
} from '../../services/tenancy/memberships/operations.ts';
import { showMember } from '../../services/tenancy/projects/of-member.ts';
import { resetMemberFactor } from '../../services/tenancy/second-factor/operations.ts';
import { route } from '../route.ts';

/** The members of an organization. */
export const memberRoutes = [
  route('GET', '/api/v1/orgs/:org/members', listMembers, {
    summary: 'The members',
    cli: 'member list',
  }),
  route('GET', '/api/v1/orgs/:org/members/:user', showMember, {
    summary: 'A member, with their projects',
    cli: 'member show',
  }),
  route('POST', '/api/v1/orgs/:org/members', addMember, {
    summary: 'Add an existing account on a verified domain of the organization; invite others',
    dryRun: true,
    status: 201,
    cli: 'member add',
  }),
  route('PATCH', '/api/v1/orgs/:org/members/:user', changeMemberRole, {
    summary: 'Change the role of a member',
    dryRun: true,
    cli: 'member role',
  }),
  route('POST', '/api/v1/orgs/:org/members/:user/second-factor/reset', resetMemberFactor, {
    summary: 'Remove the second factor of a member who lost it, and end their sessions',
    dryRun: true,
    cli: 'member reset-second-factor',
  }),
  // Must come before `:user`, which would match `me` too.
  route('DELETE', '/api/v1/orgs/:org/members/me', leaveOrganization, {
    summary: 'Leave the organization; refused for the last owner',
    cli: 'member leave',
  }),
  route('DELETE', '/api/v1/orgs/:org/members/:user', removeMember, {
    summary: 'Remove a member; the account stays',
    cli: 'member remove',
  }),
];
