import {
  type Attribute,
  enterpriseSchema,
  type ScimResource,
  userSchema,
} from '../../foundation/scim-user/attribute.ts';
import { attributes } from '../../foundation/scim-user/attributes.ts';
import { coreSchemas } from './core-schemas.ts';
import { groupNames, groupSchema } from './groups/attributes.ts';

// The discovery resources. `base` is the organization's absolute SCIM URL.

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
      description: 'A person in the organization.',
      schema: userSchema,
      schemaExtensions: [{ schema: enterpriseSchema, required: false }],
      meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/User` },
    },
    {
      schemas: [schemaOf('ResourceType')],
      id: 'Group',
      name: 'Group',
      endpoint: '/Groups',
      description: 'A group of Users. Mappings can give its members roles.',
      schema: groupSchema,
      schemaExtensions: [],
      meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/Group` },
    },
  ];
}

/** The resources of `/Schemas` (RFC 7643 §7). */
export function schemas(base: string): ScimResource[] {
  const about = Object.entries(coreSchemas).map(([name, [description, described]]) =>
    viewSchema(base, { id: schemaOf(name), name, description }, described),
  );
  return [
    viewSchema(
      base,
      { id: userSchema, name: 'User', description: 'User Account' },
      clientsOf(userSchema),
    ),
    viewSchema(
      base,
      { id: enterpriseSchema, name: 'EnterpriseUser', description: 'Enterprise User' },
      clientsOf(enterpriseSchema),
    ),
    viewSchema(
      base,
      { id: groupSchema, name: 'Group', description: 'Group' },
      groupNames.attributes.filter(({ schema }) => schema === groupSchema),
    ),
    ...about,
  ];
}

/** Attributes that clients can read back. Write-only attributes are never returned. */
function clientsOf(schema: string): Attribute[] {
  return attributes.filter(
    (attribute) => attribute.schema === schema && attribute.returned !== 'never',
  );
}

function viewSchema(
  base: string,
  { id, name, description }: { id: string; name: string; description: string },
  described: readonly Attribute[],
): ScimResource {
  return {
    schemas: [schemaOf('Schema')],
    id,
    name,
    description,
    attributes: described.map(viewAttribute),
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${id}` },
  };
}

function viewAttribute(attribute: Attribute): ScimResource {
  const { name, type, multiValued, description, required, caseExact } = attribute;
  const { mutability, returned, uniqueness, canonicalValues, referenceTypes, subAttributes } =
    attribute;
  const compared = type !== 'complex' && type !== 'boolean' && type !== 'integer';
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
