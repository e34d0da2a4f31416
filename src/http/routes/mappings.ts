import {
  addMapping,
  importMappings,
  listMappings,
  removeMapping,
} from '../../services/provisioning/mappings/operations.ts';
import { previewMappings } from '../../services/provisioning/mappings/preview.ts';
import { bodyOfManyEntries as bodyLimit, route } from '../route.ts';

/** Mappings from directory groups to project roles (spec §2.3, §4.1). */
export const mappingRoutes = [
  route('GET', '/api/v1/orgs/:org/group-mappings', listMappings, {
    summary: 'The group mappings',
    cli: 'mappings list',
  }),
  route('POST', '/api/v1/orgs/:org/group-mappings', addMapping, {
    summary: 'Map a group to a role in a project, or in the organization',
    dryRun: true,
    status: 201,
    cli: 'mappings add',
  }),
  route('DELETE', '/api/v1/orgs/:org/group-mappings/:id', removeMapping, {
    summary: 'Remove a mapping; roles of SCIM groups end at once, others at a sign-in',
    cli: 'mappings remove',
  }),
  route('POST', '/api/v1/orgs/:org/group-mappings/import', importMappings, {
    summary:
      'Add the missing mappings of a list; with `replace`, remove all others. All or nothing',
    dryRun: true,
    cli: 'mappings import',
    bodyLimit,
  }),
  route('POST', '/api/v1/orgs/:org/group-mappings/preview', previewMappings, {
    summary: "Preview a person's next sign-in; writes nothing",
    cli: 'mappings preview',
  }),
];
