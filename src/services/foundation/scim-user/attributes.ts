// The one table of a User's attributes (RFC 7643 §4). Reading, showing, filtering, patching and
// `/Schemas` use it.

import {
  type Attribute,
  boolean,
  complex,
  enterpriseSchema,
  reference,
  text,
  userSchema,
} from './attribute.ts';

/**
 * A multi-valued attribute. Its sub-attributes are its own, then the common ones of RFC 7643 §2.4.
 */
function list(name: string, description: string, types: string[], own: Attribute[]): Attribute {
  const shared = [
    text('type', 'The purpose of the value.', { canonicalValues: types }),
    boolean('primary', 'Whether it is the preferred value; true for one at most.'),
  ];
  return complex(name, description, [...own, ...shared], { multiValued: true });
}

/** A multi-valued attribute whose elements have a `value` and a display name. */
function values(
  name: string,
  description: string,
  types: string[],
  value: Partial<Attribute> = {},
): Attribute {
  return list(name, description, types, [
    text('value', 'The value itself.', value),
    text('display', 'A readable form of the value.'),
  ]);
}

const readOnly = { mutability: 'readOnly', caseExact: true } as const;
const unseen = { ...readOnly, searchable: false } as const;

/** The attributes of every resource (RFC 7643 §3.1). */
export const commonOf = (kind: 'User' | 'Group'): Attribute[] => [
  reference('schemas', 'The schemas of the resource.', ['uri'], {
    ...readOnly,
    multiValued: true,
    required: true,
    returned: 'always',
  }),
  text('id', `The identifier that idctl gave the ${kind} in this organization.`, {
    ...readOnly,
    returned: 'always',
    uniqueness: 'server',
    column: 'id',
  }),
  text('externalId', `The identifier that the client gave the ${kind}.`, {
    caseExact: true,
    column: 'externalId',
    maxLength: 400,
  }),
  complex(
    'meta',
    'The type, times, address and version of the resource.',
    [
      text('resourceType', 'The name of the resource type.', {
        ...readOnly,
        // All groups have the same resource type, and none has a search document.
        column: kind === 'Group' ? 'resourceType' : null,
      }),
      text('created', `When the ${kind} was added.`, {
        ...readOnly,
        type: 'dateTime',
        column: 'created',
      }),
      text('lastModified', `When the ${kind} last changed.`, {
        ...readOnly,
        type: 'dateTime',
        column: 'lastModified',
      }),
      reference('location', 'The address of the resource.', ['uri'], unseen),
      text('version', 'The ETag of the resource.', unseen),
    ],
    readOnly,
  ),
];

const core: Attribute[] = [
  text(
    'userName',
    'The name by which the User is known to the client, unique regardless of letter case.',
    { required: true, uniqueness: 'server', column: 'userName', maxLength: 400 },
  ),
  complex('name', 'The parts of the name of the User.', [
    text('formatted', 'The whole name, as it is shown.'),
    text('familyName', 'The family name.'),
    text('givenName', 'The given name.'),
    text('middleName', 'The middle names.'),
    text('honorificPrefix', 'The prefix, such as Dr.'),
    text('honorificSuffix', 'The suffix, such as Jr.'),
  ]),
  text('displayName', 'The name to show to people.'),
  text('nickName', 'The casual name of the User.'),
  reference('profileUrl', 'A page about the User.', ['external']),
  text('title', 'The title of the User, such as Vice President.'),
  text('userType', 'How the User relates to the organization.'),
  text('preferredLanguage', 'The languages that the User prefers, as in Accept-Language.'),
  text('locale', 'The locale for dates, numbers and the like, such as en-US.'),
  text('timezone', 'The time zone, such as Europe/Vienna.'),
  boolean('active', 'Whether the User is a member of the organization.', { column: 'active' }),
  text('password', 'Ignored.', { mutability: 'writeOnly', returned: 'never', searchable: false }),
  values('emails', 'E-mail addresses.', ['work', 'home', 'other'], {
    column: 'email',
    maxLength: 400,
  }),
  values('phoneNumbers', 'Telephone numbers.', ['work', 'home', 'mobile', 'fax', 'pager', 'other']),
  values('ims', 'Addresses for instant messages.', [
    ...['aim', 'gtalk', 'icq', 'xmpp', 'msn', 'skype', 'qq', 'yahoo'],
  ]),
  values('photos', 'Pictures of the User.', ['photo', 'thumbnail'], {
    type: 'reference',
    caseExact: true,
    referenceTypes: ['external'],
  }),
  list(
    'addresses',
    'Postal addresses.',
    ['work', 'home', 'other'],
    [
      text('formatted', 'The whole address, as it is written on an envelope.'),
      text('streetAddress', 'Street and number.'),
      text('locality', 'City or place.'),
      text('region', 'State or region.'),
      text('postalCode', 'Postal code.'),
      text('country', 'Country, as two letters of ISO 3166-1.'),
    ],
  ),
  complex(
    'groups',
    'The groups of the User, which the client writes at /Groups.',
    [
      text('value', 'The id of the group.', { ...readOnly, column: 'group' }),
      reference('$ref', 'The address of the group.', ['Group'], unseen),
      text('display', 'The name of the group.', unseen),
      text('type', 'The kind of membership.', { ...unseen, canonicalValues: ['direct'] }),
    ],
    { mutability: 'readOnly', multiValued: true, column: 'group' },
  ),
  values('entitlements', 'Entitlements of the User; stored without effect.', []),
  values('roles', 'Roles of the User at the client; stored without effect.', []),
  values('x509Certificates', 'Certificates of the User.', [], { type: 'binary', caseExact: true }),
];

const enterprise: Attribute[] = [
  text('employeeNumber', 'The number of the User in the organization.'),
  text('costCenter', 'The cost center.'),
  text('organization', 'The organization.'),
  text('division', 'The division.'),
  text('department', 'The department.'),
  complex('manager', 'The manager of the User.', [
    text('value', 'The id of the manager.'),
    reference('$ref', 'The address of the manager.', ['User']),
    text('displayName', 'The name of the manager.', { ...readOnly, caseExact: false }),
  ]),
];

/** Every attribute of a User, including the extension's. */
export const attributes: readonly Attribute[] = [
  ...commonOf('User'),
  ...core.map((attribute) => ({ ...attribute, schema: userSchema })),
  ...enterprise.map((attribute) => ({ ...attribute, schema: enterpriseSchema })),
];
