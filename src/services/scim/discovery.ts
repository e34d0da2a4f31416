import { type Attribute, attributes, enterpriseSchema, type ScimResource, userSchema } from './attributes.ts';

// What `/ServiceProviderConfig`, `/ResourceTypes` and `/Schemas` say. `base` is the absolute URL of the organization's
// SCIM base.

const schemaOf = (kind: string) => `urn:ietf:params:scim:schemas:core:2.0:${kind}`;

/** `/ServiceProviderConfig` (RFC 7643 §5). */
export function serviceProviderConfig(base: string, options: { maxResults: number }): ScimResource {
  return {
    schemas: [schemaOf('ServiceProviderConfig')],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: options.maxResults },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'The SCIM token of the organization, as a bearer token (RFC 6750).',
        specUri: 'https://www.rfc-editor.org/info/rfc6750',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  };
}

/** The resources of `/ResourceTypes` (RFC 7643 §6). */
export function resourceTypes(base: string): ScimResource[] {
  return [
    {
      schemas: [schemaOf('ResourceType')],
      id: 'User',
      name: 'User',
      endpoint: '/Users',
      description: 'A person of the organization.',
      schema: userSchema,
      schemaExtensions: [{ schema: enterpriseSchema, required: false }],
      meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/User` },
    },
  ];
}

/** The resources of `/Schemas` (RFC 7643 §7). */
export function schemas(base: string): ScimResource[] {
  return [
    viewSchema(base, userSchema, 'User', 'A person of the organization.'),
    viewSchema(base, enterpriseSchema, 'EnterpriseUser', 'What an enterprise knows of a person.'),
  ];
}

function viewSchema(base: string, id: string, name: string, description: string): ScimResource {
  return {
    schemas: [schemaOf('Schema')],
    id,
    name,
    description,
    // What is never returned does not round-trip.
    attributes: attributes
      .filter((attribute) => attribute.schema === id && attribute.returned !== 'never')
      .map(viewAttribute),
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${id}` },
  };
}

function viewAttribute(attribute: Attribute): ScimResource {
  const { name, type, multiValued, description, required, caseExact } = attribute;
  const { mutability, returned, uniqueness, canonicalValues, referenceTypes, subAttributes } = attribute;
  const compared = type !== 'complex' && type !== 'boolean';
  return {
    name,
    type,
    multiValued,
    description,
    required,
    ...(compared ? { caseExact } : {}),
    ...(canonicalValues.length === 0 ? {} : { canonicalValues: [...canonicalValues] }),
    mutability,
    returned,
    ...(type === 'complex' ? {} : { uniqueness }),
    ...(referenceTypes.length === 0 ? {} : { referenceTypes: [...referenceTypes] }),
    ...(type === 'complex' ? { subAttributes: subAttributes.map(viewAttribute) } : {}),
  };
}
