import {
  applyOrganization,
  exportOrganization,
  planOrganization,
  showDocumentSchema,
} from '../../services/provisioning/document/operations.ts';
import { bodyOfDocument as body } from '../body/limits.ts';
import { route } from '../route.ts';

/** An organization as a document. */
export const documentRoutes = [
  route('GET', '/api/v1/organization.schema.json', showDocumentSchema, {
    summary: 'The JSON Schema of the document of an organization',
    cli: 'schema',
  }),
  route('GET', '/api/v1/orgs/:org/export', exportOrganization, {
    summary: 'The organization as a document, without secrets',
    cli: 'export',
  }),
  route('POST', '/api/v1/orgs/:org/plan', planOrganization, {
    summary: 'Show the changes that an apply would make, and who would lose access',
    cli: 'plan',
    body,
  }),
  route('POST', '/api/v1/orgs/:org/apply', applyOrganization, {
    summary: 'Apply a planned document, in one transaction',
    cli: 'apply',
    body,
  }),
];
