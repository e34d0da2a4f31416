import {
  type Attribute,
  boolean,
  complex,
  reference,
  text,
} from '../../foundation/scim-user/attribute.ts';

// The schemas of the service's discovery resources (RFC 7643 §8.7.2). Clients cannot write them.

const readOnly = { mutability: 'readOnly' } as const;
const needed = { ...readOnly, required: true } as const;
const listed = { ...readOnly, multiValued: true } as const;
const exact = { ...readOnly, caseExact: true } as const;

const word = (name: string, description: string, more = {}) =>
  text(name, description, { ...needed, ...more });
const flag = (name: string, description: string) => boolean(name, description, needed);
const number = (name: string, description: string) => word(name, description, { type: 'integer' });
const part = (name: string, description: string, parts: Attribute[], more = {}) =>
  complex(name, description, parts, { ...needed, ...more });

const supported = flag('supported', 'Whether the feature is supported.');
const endpoint = (name: string, description: string, more = {}) =>
  reference(name, description, ['uri'], { ...exact, ...more });

const serviceProviderConfig: Attribute[] = [
  reference('documentationUri', 'The URL of the documentation.', ['external'], readOnly),
  part('patch', 'Whether PATCH can change resources.', [supported]),
  part('bulk', 'Whether several requests can be sent in one.', [
    supported,
    number('maxOperations', 'The maximum number of operations in one request.'),
    number('maxPayloadSize', 'The largest request in bytes.'),
  ]),
  part('filter', 'Whether lists can be filtered.', [
    supported,
    number('maxResults', 'The maximum number of resources in one answer.'),
  ]),
  part('changePassword', 'Whether clients can change passwords.', [supported]),
  part('sort', 'Whether lists can be sorted.', [supported]),
  part('etag', 'Whether resources have versions.', [supported]),
  part(
    'authenticationSchemes',
    'How clients authenticate.',
    [
      word('type', 'The kind of scheme.', {
        canonicalValues: ['oauth', 'oauth2', 'oauthbearertoken', 'httpbasic', 'httpdigest'],
      }),
      word('name', 'The name of the scheme.'),
      word('description', 'A description of the scheme.'),
      reference('specUri', 'The specification of the scheme.', ['external'], readOnly),
      reference('documentationUri', 'The documentation of the scheme.', ['external'], readOnly),
      boolean('primary', 'Whether the scheme is preferred.', readOnly),
    ],
    { multiValued: true },
  ),
];

const resourceType: Attribute[] = [
  text('id', 'The identifier of the resource type.', readOnly),
  word('name', 'The name of the resource type.'),
  text('description', 'A description of the resources.', readOnly),
  endpoint('endpoint', 'The path of the resources, relative to the base URL.', { required: true }),
  endpoint('schema', 'The URN of the schema of the resources.', { required: true }),
  complex(
    'schemaExtensions',
    'The schemas that extend the resource type.',
    [
      endpoint('schema', 'The URN of the extension.', { required: true }),
      flag('required', 'Whether every resource has the extension.'),
    ],
    listed,
  ),
];

const described = (subAttributes: Attribute[]): Attribute[] => [
  word('name', 'The name of the attribute.', { caseExact: true }),
  word('type', 'The type of the values.', {
    canonicalValues: [
      'string',
      'complex',
      'boolean',
      'decimal',
      'integer',
      'dateTime',
      'reference',
      'binary',
    ],
  }),
  flag('multiValued', 'Whether the attribute can have several values.'),
  text('description', 'A description of the attribute.', exact),
  flag('required', 'Whether every resource has the attribute.'),
  text('canonicalValues', 'Suggested values.', { ...listed, caseExact: true }),
  boolean('caseExact', 'Whether the case of letters matters.', readOnly),
  word('mutability', 'Whether clients can write the attribute.', {
    caseExact: true,
    canonicalValues: ['readOnly', 'readWrite', 'immutable', 'writeOnly'],
  }),
  word('returned', 'When answers include the attribute.', {
    caseExact: true,
    canonicalValues: ['always', 'never', 'default', 'request'],
  }),
  text('uniqueness', 'The scope in which the value is unique.', {
    ...exact,
    canonicalValues: ['none', 'server', 'global'],
  }),
  text('referenceTypes', 'The types that a reference can point to.', {
    ...listed,
    caseExact: true,
  }),
  ...subAttributes,
];

const schema: Attribute[] = [
  endpoint('id', 'The URN of the schema.', { required: true }),
  word('name', 'The name of the schema.'),
  text('description', 'A description of the schema.', readOnly),
  complex(
    'attributes',
    'The attributes that the schema defines.',
    described([complex('subAttributes', 'The parts of a complex value.', described([]), listed)]),
    { ...listed, required: true },
  ),
];

/** The schemas of the discovery resources (RFC 7643 §8.7.2), by the last part of the URN. */
export const coreSchemas = {
  ServiceProviderConfig: ['Service Provider Configuration', serviceProviderConfig],
  ResourceType: ['Resource Type', resourceType],
  Schema: ['Schema', schema],
} as const satisfies Record<string, readonly [description: string, attributes: Attribute[]]>;
