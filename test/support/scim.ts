import fc from 'fast-check';
import {
  enterpriseSchema,
  type ScimResource,
} from '../../src/services/foundation/scim-user/attribute.ts';
import {
  readCreation,
  type WrittenUser,
} from '../../src/services/foundation/scim-user/resource.ts';
import { viewScimUser } from '../../src/services/provisioning/scim/view.ts';

// Random resources and filters share values, so that filters match some of the resources and not
// others.

/** Whether this is `npm run test:long`. */
export const long = process.env['IDCTL_TEST_LONG'] === '1';

/** Values in which case, accents, order, wildcards, quotes and parameters can go wrong. */
export const word = fc.constantFrom(
  ...[
    '',
    'a',
    'A',
    'b',
    'ab',
    'aB',
    'a b',
    'ba',
    '%',
    '_',
    'a_',
    '\\',
    '"',
    "'",
    '$1',
    '$ref',
    ':x',
    '?',
    '1',
  ],
  ...[
    'ä',
    'Ä',
    'ß',
    'ẞ',
    'Σ',
    'ς',
    'ΑΣ',
    'ας',
    'İ',
    'i',
    '\u212a',
    'k',
    'é',
    'e\u0301',
    '😀',
    'a😀',
    '\uffff',
    '\ue000',
  ],
);

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const elements = fc.array(
  fc.record(
    {
      value: word,
      type: fc.constantFrom('work', 'Work', 'home', ''),
      display: word,
      primary: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
  { maxLength: 3 },
);

/** Keeps only the last primary element, so that the primary element is often not the first. */
const onePrimary = <T extends { primary?: boolean }>(list: T[]) => {
  const chosen = list.findLast((one) => one.primary);
  return list.map((one) => (one.primary && one !== chosen ? { ...one, primary: false } : one));
};

/** A resource as a client wrote it. */
export const resources: fc.Arbitrary<WrittenUser> = fc
  .record({
    userName: word.filter((text) => text !== ''),
    externalId: optional(word),
    active: fc.boolean(),
    displayName: optional(word),
    profileUrl: optional(word),
    name: optional(fc.record({ givenName: word, familyName: word }, { requiredKeys: [] })),
    emails: optional(elements.map(onePrimary)),
    roles: optional(elements.map(onePrimary)),
    addresses: optional(fc.array(fc.record({ locality: word }), { maxLength: 2 })),
    [enterpriseSchema]: optional(
      fc.record(
        { department: word, manager: fc.record({ value: word, $ref: word }, { requiredKeys: [] }) },
        { requiredKeys: [] },
      ),
    ),
  })
  .map(readCreation);

/** The creation times of a test's resources. Filters compare with these times too. */
export const instants = [
  '2011-05-13T04:42:34.000Z',
  '2011-05-13T04:42:34.500Z',
  '2024-02-29T23:59:59.999Z',
];

/** The resource as clients see it. */
export function seen(resource: ScimResource, id: string, active: boolean, at: Date): ScimResource {
  const location = `https://example.test/Users/${id}`;
  return viewScimUser(resource, {
    id,
    active,
    createdAt: at,
    modifiedAt: at,
    version: 1,
    location,
  });
}

const manager = `${enterpriseSchema}:manager`;
const texts = [
  ...[
    'userName',
    'externalId',
    'displayName',
    'profileUrl',
    'name.givenName',
    'emails',
    'emails.value',
  ],
  ...[
    'emails.type',
    'emails.display',
    'roles',
    'addresses.locality',
    `${enterpriseSchema}:department`,
  ],
  ...[
    `${manager}.value`,
    manager,
    `${manager}.$ref`,
    'USERNAME',
    'schemas',
    'meta.resourceType',
    'id',
  ],
];
const operator = fc.constantFrom('eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le', 'EQ');
const equality = fc.constantFrom('eq', 'ne');
const quoted = word.map((text) => JSON.stringify(text));
const joined = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((all) => all.join(' '));

const inElement = fc.oneof(
  joined(fc.constantFrom('value', 'type', 'display'), operator, quoted),
  joined(fc.constant('primary'), equality, fc.constantFrom('true', 'false')),
  fc.constantFrom('value pr', 'primary pr', 'type eq "work"', 'display eq null'),
);

const term = (ids: string[]) =>
  fc.oneof(
    { weight: 6, arbitrary: joined(fc.constantFrom(...texts), operator, quoted) },
    joined(
      fc.constantFrom('active', 'emails.primary'),
      equality,
      fc.constantFrom('true', 'False', '"true"'),
    ),
    joined(
      fc.constantFrom('meta.created', 'meta.lastModified'),
      fc.constantFrom('eq', 'ne', 'gt', 'ge', 'lt', 'le'),
      fc
        .constantFrom(...instants, '2011-05-13T06:42:34+02:00', '2011-05-13')
        .map((at) => `"${at}"`),
    ),
    joined(
      fc.constant('id'),
      operator,
      fc.constantFrom(...ids, 'x').map((id) => `"${id}"`),
    ),
    fc
      .constantFrom(...texts, 'name', 'emails', 'addresses', 'active', 'meta', 'meta.created')
      .map((name) => `${name} pr`),
    joined(
      fc.constantFrom('displayName', 'externalId', 'emails', 'roles.type'),
      equality,
      fc.constant('null'),
    ),
  );

/** Well-formed filters within the limits, as text; some contain one of the ids. */
export function filters(ids: string[]): fc.Arbitrary<string> {
  const { any } = fc.letrec<{ any: string; some: string }>((tie) => ({
    any: fc.oneof({ maxDepth: 3 }, term(ids), tie('some')),
    some: fc.oneof(
      joined(tie('any'), fc.constantFrom('and', 'or', 'AND'), tie('any')),
      tie('any').map((filter) => `not (${filter})`),
      tie('any').map((filter) => `(${filter})`),
      joined(inElement, fc.constantFrom('and', 'or'), inElement).map(
        (filter) => `emails[${filter}]`,
      ),
      inElement.map((filter) => `roles[not (${filter})]`),
      fc.tuple(inElement, inElement).map(([chosen, also]) => `emails[${chosen}].${also}`),
      quoted.map((text) => `name[givenName eq ${text} or familyName pr]`),
    ),
  }));
  return any;
}
