import { eventFormats, exportEvents } from '../../services/foundation/events/export.ts';
import { listEvents } from '../../services/foundation/events/operations.ts';
import { findReference } from '../../services/signin/reference.ts';
import {
  createOrganization,
  deleteOrganization,
  listOrganizations,
  renameOrganization,
  showOrganization,
} from '../../services/tenancy/organizations/operations.ts';
import { route } from '../route.ts';

/** Organizations and their events. */
export const organizationRoutes = [
  route('GET', '/api/v1/orgs', listOrganizations, {
    summary: 'The organizations of the signed-in person',
    cli: 'org list',
  }),
  route('POST', '/api/v1/orgs', createOrganization, {
    summary: 'Create an organization; its creator becomes owner',
    dryRun: true,
    status: 201,
    cli: 'org create',
  }),
  route('GET', '/api/v1/orgs/:org', showOrganization, {
    summary: 'One organization',
    cli: 'org show',
  }),
  route('PATCH', '/api/v1/orgs/:org', renameOrganization, {
    summary: 'Rename an organization',
    dryRun: true,
    cli: 'org rename',
  }),
  route('DELETE', '/api/v1/orgs/:org', deleteOrganization, {
    summary: 'Delete an organization; its accounts stay',
    cli: 'org delete',
  }),
  route('GET', '/api/v1/orgs/:org/events', listEvents, {
    summary: 'The events, oldest first; with `format`, all of them as a file',
    cli: 'event list',
    download: { operation: exportEvents, types: Object.values(eventFormats) },
  }),
  route('GET', '/api/v1/orgs/:org/events/:reference', findReference, {
    summary: 'What the reference of a refused sign-in means: its event, attempt and reason',
    cli: 'event show',
  }),
];
