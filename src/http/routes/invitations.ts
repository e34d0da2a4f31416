import {
  acceptInvitation,
  createInvitation,
  listInvitations,
  revokeInvitation,
} from '../../services/tenancy/invitations/operations.ts';
import { route } from '../route.ts';

/** Inviting people to an organization, and accepting. */
export const invitationRoutes = [
  route('GET', '/api/v1/orgs/:org/invitations', listInvitations, {
    summary: 'List the pending invitations',
    cli: 'invitation list',
  }),
  route('POST', '/api/v1/orgs/:org/invitations', createInvitation, {
    summary: 'Invite an address; token and link are shown only once, and mailed if mail is set up',
    dryRun: true,
    status: 201,
    cli: 'invitation create',
  }),
  route('DELETE', '/api/v1/orgs/:org/invitations/:id', revokeInvitation, {
    summary: 'Revoke a pending invitation',
    cli: 'invitation revoke',
  }),
  route('POST', '/api/v1/invitations/accept', acceptInvitation, {
    summary: 'Accept an invitation to your own address',
  }),
];
