import {
  type Attribute,
  complex,
  reference,
  text,
} from '../../../foundation/scim-user/attribute.ts';
import { commonOf } from '../../../foundation/scim-user/attributes.ts';
import { namesOf } from '../../../foundation/scim-user/names.ts';

/** The schema of a Group (RFC 7643 §4.2). */
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';

const immutable = { mutability: 'immutable', caseExact: true } as const;

const displayName = text('displayName', 'The name, unique without regard to case.', {
  required: true,
  uniqueness: 'server',
  column: 'displayName',
  maxLength: 512,
});
const members = complex(
  'members',
  'The Users in the group.',
  [
    text('value', 'The id of the User.', { ...immutable, column: 'member' }),
    reference('$ref', 'The URL of the User.', ['User'], { ...immutable, searchable: false }),
    text('type', 'The type of the member.', {
      ...immutable,
      canonicalValues: ['User'],
      searchable: false,
    }),
    text('display', 'The name to show for the member.', {
      mutability: 'immutable',
      searchable: false,
    }),
  ],
  { multiValued: true, column: 'member' },
);

const attributes: Attribute[] = [
  ...commonOf('Group'),
  ...[displayName, members].map((attribute) => ({ ...attribute, schema: groupSchema })),
];

/** The attribute names of a Group. */
export const groupNames = namesOf('Group', attributes, [groupSchema]);

/** The attributes of the Group schema, by name. */
export const written = { displayName, members };
