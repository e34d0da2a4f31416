import { testClient } from '../../services/signin/provider/test.ts';
import {
  changeClient,
  createClient,
  listClients,
  removeClient,
  rotateClient,
  showClient,
} from '../../services/tenancy/clients/operations.ts';
import { route } from '../route.ts';

const client = '/api/v1/orgs/:org/clients/:client';

/** The applications that an organization's members can sign in to. */
export const clientRoutes = [
  route('GET', '/api/v1/orgs/:org/clients', listClients, {
    summary: 'The clients, without their secrets',
    cli: 'client list',
  }),
  route('POST', '/api/v1/orgs/:org/clients', createClient, {
    summary: 'Create a client for an application; its secret is shown only once',
    dryRun: true,
    status: 201,
    cli: 'client create',
  }),
  route('GET', client, showClient, {
    summary: 'A client by its client id or name, without its secret',
    cli: 'client show',
  }),
  route('PATCH', client, changeClient, {
    summary: 'Change the given settings of a client; a given list replaces the old one',
    dryRun: true,
    cli: 'client set',
  }),
  route('DELETE', client, removeClient, {
    summary: 'Remove a client; people stay signed in to idctl',
    cli: 'client remove',
  }),
  route('POST', `${client}/rotate`, rotateClient, {
    summary: 'Give a client a new secret; the old one stops immediately',
    dryRun: true,
    cli: 'client rotate',
  }),
  route('POST', `${client}/test`, testClient, {
    summary: 'Test a client step by step; with a member, also their sign-in and claims',
    cli: 'client test',
  }),
];
