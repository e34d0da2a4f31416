import {
  createSetupLink,
  listSetupLinks,
  revokeSetupLink,
} from '../../services/tenancy/setup-links/operations.ts';
import { route } from '../route.ts';

/** Links with which people without an account set up parts of an organization. */
export const setupLinkRoutes = [
  route('GET', '/api/v1/orgs/:org/setup-links', listSetupLinks, {
    summary: 'List the setup links that have not expired',
    cli: 'setup-link list',
  }),
  route('POST', '/api/v1/orgs/:org/setup-links', createSetupLink, {
    summary: 'Create a setup link; its URL is shown only once',
    dryRun: true,
    status: 201,
    cli: 'setup-link create',
  }),
  route('DELETE', '/api/v1/orgs/:org/setup-links/:id', revokeSetupLink, {
    summary: 'Revoke a setup link, opened or not',
    cli: 'setup-link revoke',
  }),
];
