import { changeMapping } from '../../services/provisioning/mappings/change.ts';
import {
  addMapping,
  importMappings,
  listMappings,
  removeMapping,
} from '../../services/provisioning/mappings/operations.ts';
import { previewMappings } from '../../services/provisioning/mappings/preview.ts';
import { bodyOfMappings as body } from '../body/limits.ts';
import { route } from '../route.ts';

/** Mappings from groups to roles (spec §2.3, §4.1). */
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
  route('PUT', '/api/v1/orgs/:org/group-mappings/:id', changeMapping, {
    summary: 'Replace the role that a mapping gives; the group stays',
    dryRun: true,
    cli: 'mappings set',
  }),
  route('DELETE', '/api/v1/orgs/:org/group-mappings/:id', removeMapping, {
    summary:
      'Remove a mapping; SCIM group roles end now, others at the next sign-in if `autoRemove` is on',
    cli: 'mappings remove',
  }),
  route('POST', '/api/v1/orgs/:org/group-mappings/import', importMappings, {
    summary: 'Add the missing mappings of a list, all or none; with `replace`, remove all others',
    dryRun: true,
    cli: 'mappings import',
    body,
  }),
  route('POST', '/api/v1/orgs/:org/group-mappings/preview', previewMappings, {
    summary: "Preview the role changes of a person's next sign-in; changes nothing",
    cli: 'mappings preview',
  }),
];
