import { addMapping } from '../../services/provisioning/mappings/add.ts';
import { listMappings } from '../../services/provisioning/mappings/list.ts';
import { previewMappings } from '../../services/provisioning/mappings/preview.ts';
import { removeMapping } from '../../services/provisioning/mappings/remove.ts';
import {
  addMappingInput,
  listMappingsInput,
  mappingPage,
  mappingRefInput,
  mappingView,
  previewMappingsInput,
  previewView,
} from '../../services/provisioning/mappings/schema.ts';
import { route } from '../route.ts';

/** Directory groups turned into project roles (spec §2.3, §4.1). */
export const mappingRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/orgs/:org/group-mappings',
    summary: 'The group mappings',
    access: 'mappings.see',
    input: listMappingsInput,
    output: mappingPage,
    cli: 'mappings list',
    run: listMappings,
  }),
  route({
    method: 'POST',
    path: '/api/v1/orgs/:org/group-mappings',
    summary: 'Map a group to a role in a project',
    access: 'mappings.change',
    input: addMappingInput,
    output: mappingView,
    status: 201,
    cli: 'mappings add',
    run: addMapping,
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/orgs/:org/group-mappings/:id',
    summary: 'Remove a mapping; memberships stay until the next sign-in',
    access: 'mappings.change',
    input: mappingRefInput,
    cli: 'mappings remove',
    run: removeMapping,
  }),
  route({
    method: 'POST',
    path: '/api/v1/orgs/:org/group-mappings/preview',
    summary: "What a person's next sign-in would do; writes nothing",
    access: 'mappings.see',
    input: previewMappingsInput,
    output: previewView,
    cli: 'mappings preview',
    run: previewMappings,
  }),
];
