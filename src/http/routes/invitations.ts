import { acceptInvitation } from '../../services/tenancy/invitations/accept.ts';
import { createInvitation } from '../../services/tenancy/invitations/create.ts';
import { listInvitations } from '../../services/tenancy/invitations/list.ts';
import { revokeInvitation } from '../../services/tenancy/invitations/revoke.ts';
import {
  acceptedView,
  acceptInvitationInput,
  createInvitationInput,
  invitationPage,
  invitationRefInput,
  listInvitationsInput,
  newInvitationView,
} from '../../services/tenancy/invitations/schema.ts';
import { route } from '../route.ts';

/** Asking people into an organization, and coming. */
export const invitationRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/orgs/:org/invitations',
    summary: 'List the invitations that wait to be accepted',
    access: 'invitations.see',
    input: listInvitationsInput,
    output: invitationPage,
    cli: 'invitation list',
    run: listInvitations,
  }),
  route({
    method: 'POST',
    path: '/api/v1/orgs/:org/invitations',
    summary: 'Invite an address; token and link are shown once, and mailed where the instance sends mail',
    access: 'invitations.change',
    input: createInvitationInput,
    output: newInvitationView,
    status: 201,
    cli: 'invitation create',
    run: createInvitation,
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/orgs/:org/invitations/:id',
    summary: 'Take back an invitation that was not accepted yet',
    access: 'invitations.change',
    input: invitationRefInput,
    cli: 'invitation revoke',
    run: revokeInvitation,
  }),
  route({
    method: 'POST',
    path: '/api/v1/invitations/accept',
    summary: 'Accept the invitation of one’s own address',
    access: 'invitations.accept',
    input: acceptInvitationInput,
    output: acceptedView,
    run: acceptInvitation,
  }),
];
