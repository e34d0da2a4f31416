import {
  exportOrganization,
  showDocumentSchema,
} from '../../services/provisioning/document/operations.ts';
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
];
