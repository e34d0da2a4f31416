import { listScimUsers } from '../../services/provisioning/scim/list/records.ts';
import { listScimRequests } from '../../services/provisioning/scim/log/list.ts';
import {
  listScimRequestsInput,
  listScimUsersInput,
  scimRequestPage,
  scimUserPage,
} from '../../services/provisioning/scim/schema.ts';
import { revokeScimToken } from '../../services/provisioning/scim/token/revoke.ts';
import { rotateScimToken } from '../../services/provisioning/scim/token/rotate.ts';
import {
  newScimTokenView,
  scimTokenInput,
  scimTokenView,
} from '../../services/provisioning/scim/token/schema.ts';
import { showScimToken } from '../../services/provisioning/scim/token/show.ts';
import { route } from '../route.ts';

/** What administrators see and set of SCIM (spec §2.4); its own door is in `scim/`. */
export const scimRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/orgs/:org/scim-token',
    summary: 'Whether there is a SCIM token, without its value',
    access: 'scim.see',
    input: scimTokenInput,
    output: scimTokenView,
    cli: 'scim token show',
    run: showScimToken,
  }),
  route({
    method: 'POST',
    path: '/api/v1/orgs/:org/scim-token',
    summary: 'Make a SCIM token, shown this once; the one before stops at once',
    access: 'scim.rotate',
    input: scimTokenInput,
    output: newScimTokenView,
    status: 201,
    cli: 'scim token rotate',
    run: rotateScimToken,
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/orgs/:org/scim-token',
    summary: 'Revoke the SCIM token: the connection is cut off',
    access: 'scim.revoke',
    input: scimTokenInput,
    cli: 'scim token revoke',
    run: revokeScimToken,
  }),
  route({
    method: 'GET',
    path: '/api/v1/orgs/:org/scim-users',
    summary: 'Whom the SCIM client sees, members and those who were',
    access: 'scim.see',
    input: listScimUsersInput,
    output: scimUserPage,
    cli: 'scim users',
    run: listScimUsers,
  }),
  route({
    method: 'GET',
    path: '/api/v1/orgs/:org/scim-log',
    summary: "The SCIM client's last requests, newest first; 500 of them, for 7 days",
    access: 'scim.see',
    input: listScimRequestsInput,
    output: scimRequestPage,
    cli: 'scim log',
    run: listScimRequests,
  }),
];
