import {
  listScimGroupMembers,
  listScimGroups,
} from '../../services/provisioning/scim/groups/admin.ts';
import { listScimUsers } from '../../services/provisioning/scim/list/records.ts';
import { listScimRequests } from '../../services/provisioning/scim/log.ts';
import {
  revokeScimToken,
  rotateScimToken,
  showScimToken,
} from '../../services/provisioning/scim/token.ts';
import { route } from '../route.ts';

/** SCIM for administrators (spec §2.4); the server for SCIM clients is in `scim/`. */
export const scimRoutes = [
  route('GET', '/api/v1/orgs/:org/scim-token', showScimToken, {
    summary: 'Whether there is a SCIM token, without its value',
    cli: 'scim token show',
  }),
  route('POST', '/api/v1/orgs/:org/scim-token', rotateScimToken, {
    summary: 'Create a new SCIM token, shown only once; the old one stops immediately',
    status: 201,
    dryRun: true,
    cli: 'scim token rotate',
  }),
  route('DELETE', '/api/v1/orgs/:org/scim-token', revokeScimToken, {
    summary: 'Revoke the SCIM token; the SCIM client can no longer connect',
    cli: 'scim token revoke',
  }),
  route('GET', '/api/v1/orgs/:org/scim-users', listScimUsers, {
    summary: 'The users SCIM can see, including former members',
    cli: 'scim users',
  }),
  route('GET', '/api/v1/orgs/:org/scim-groups', listScimGroups, {
    summary: 'The groups that the SCIM client created',
    cli: 'scim groups',
  }),
  route('GET', '/api/v1/orgs/:org/scim-groups/:members/members', listScimGroupMembers, {
    summary: 'The users in a group of the SCIM client',
    cli: 'scim groups',
  }),
  route('GET', '/api/v1/orgs/:org/scim-log', listScimRequests, {
    summary:
      'The last SCIM requests, newest first: 500 with a valid token, 50 without; kept for 7 days',
    cli: 'scim log',
  }),
];
