import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../src/errors.ts';
import {
  enterpriseSchema,
  type ScimResource,
  userSchema,
} from '../../src/services/foundation/scim-user/attribute.ts';
import { attributes } from '../../src/services/foundation/scim-user/attributes.ts';
import {
  emailOf,
  memberResource,
  nameOf,
  readCreation,
  readReplacement,
} from '../../src/services/foundation/scim-user/resource.ts';
import {
  resourceTypes,
  schemas,
  serviceProviderConfig,
} from '../../src/services/provisioning/scim/discovery.ts';
import { readProjection } from '../../src/services/provisioning/scim/view.ts';
import { resources, seen } from '../support/scim.ts';

const scimTypeOf = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error.scimType;
    throw error;
  }
  throw new Error('not refused');
};

describe('design scim.md: the body of a POST', () => {
  test('Entra may send the enterprise URN without an object, nulls, empty lists, meta and string booleans', () => {
    const body = {
      schemas: [userSchema, enterpriseSchema],
      [enterpriseSchema]: null,
      externalId: '0a21f0f2',
      userName: 'Test_User@example.com',
      active: 'True',
      addresses: null,
      displayName: null,
      emails: [{ primary: 'true', type: 'work', value: 'Test_User@example.com' }, null],
      meta: { resourceType: 'User' },
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      roles: [],
      nickName: [],
      title: [{ value: 'Boss' }],
    };
    expect(readCreation(body)).toEqual({
      externalId: '0a21f0f2',
      userName: 'Test_User@example.com',
      active: true,
      emails: [{ primary: true, type: 'work', value: 'Test_User@example.com' }],
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      title: 'Boss',
    });
    expect(readCreation({ ...body, [enterpriseSchema]: '' })).not.toHaveProperty([
      enterpriseSchema,
    ]);
    expect(readCreation({ ...body, [enterpriseSchema]: {} })).not.toHaveProperty([
      enterpriseSchema,
    ]);
  });

  test('of two primary values, the first stays primary; an entry with an empty value is dropped', () => {
    const body = {
      userName: 'a',
      emails: [
        { value: '', type: 'home', primary: true },
        { value: 'x', primary: true },
        { value: 'y', primary: true },
      ],
      phoneNumbers: [{ type: 'work', value: '' }],
      [enterpriseSchema]: { manager: { value: '' } },
    };
    expect(readCreation(body)).toEqual({
      userName: 'a',
      active: true,
      emails: [
        { value: 'x', primary: true },
        { value: 'y', primary: false },
      ],
    });
  });

  test('names match in any letter case and with their URN; unknown and read-only attributes are dropped', () => {
    const body = {
      USERNAME: 'a',
      [`${userSchema}:displayName`]: 'A',
      [enterpriseSchema.toLowerCase()]: { Department: 'D', manager: 'm', nope: 1 },
      id: 'x',
      groups: [{ value: 'g' }],
      password: 'secret',
      favouriteColour: 'blue',
      'urn:example:2.0:User': { x: 1 },
      emails: [{ VALUE: 'a@b.c', nope: 1 }],
      phoneNumbers: '1',
      ['__proto__']: { polluted: 1 },
      constructor: { polluted: 1 },
    };
    expect(readCreation(body)).toEqual({
      userName: 'a',
      displayName: 'A',
      active: true,
      [enterpriseSchema]: { department: 'D', manager: { value: 'm' } },
      emails: [{ value: 'a@b.c' }],
      phoneNumbers: [{ value: '1' }],
    });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('without userName, the first e-mail is the userName; a body without both is refused', () => {
    expect(
      readCreation({ emails: [{ value: 'A@b.c' }, { value: 'd@e.f', primary: true }] }).userName,
    ).toBe('A@b.c');
    expect(readCreation({ userName: ' ', emails: 'a@b.c' }).userName).toBe('a@b.c');
    for (const body of [
      { displayName: 'x' },
      { userName: '', emails: [] },
      { emails: [{ type: 'work' }] },
    ]) {
      expect(scimTypeOf(() => readCreation(body))).toBe('invalidValue');
    }
  });

  test.each([
    ['invalidSyntax', null],
    ['invalidSyntax', []],
    ['invalidSyntax', 'x'],
    ['invalidValue', {}],
    ['invalidValue', { schemas: [userSchema] }],
    ['invalidValue', { userName: 'a', active: 'maybe' }],
    ['invalidValue', { userName: 'a'.repeat(401) }],
    ['invalidValue', { userName: 'a', name: 'A' }],
    ['invalidValue', { userName: 'a', displayName: { first: 'A' } }],
    ['invalidValue', { userName: 'a', displayName: '\0' }],
  ])('%s is the answer to %j', (scimType, body) => {
    expect(scimTypeOf(() => readCreation(body))).toBe(scimType);
    if (JSON.stringify(body)?.includes('"a"')) return;
    // An empty PUT is refused too, so it does not activate the person.
    expect(scimTypeOf(() => readReplacement(body, { userName: 'a' }))).toBe(scimType);
  });

  test('PUT keeps a userName that it does not give, replaces the rest, and activates unless active is false', () => {
    const current = { userName: 'a', displayName: 'A', active: false };
    expect(readReplacement({ title: 'T' }, current)).toEqual({
      userName: 'a',
      title: 'T',
      active: true,
    });
    expect(readReplacement({ active: 'FALSE' }, current)).toEqual({ userName: 'a', active: false });
    expect(readReplacement({ active: null, userName: 'b' }, current)).toEqual({
      userName: 'b',
      active: true,
    });
  });

  test('a resource that was read is read again unchanged', () => {
    fc.assert(
      fc.property(resources, (resource) => {
        expect(readCreation(resource)).toEqual(resource);
      }),
    );
  });
});

describe('design scim.md: address and name', () => {
  test.each([
    [{ userName: 'Ada@Example.com', emails: [{ value: 'x@y.zz' }] }, 'ada@example.com'],
    [
      {
        userName: 'ada',
        emails: [{ value: 'Ada@Example.com' }, { value: 'x@y.zz', primary: true }],
      },
      'ada@example.com',
    ],
    [{ userName: 'ada', emails: [{ value: 'none' }, { value: 'x@y.zz' }] }, null],
    [{ userName: 'ada' }, null],
  ])('the e-mail of %j is %s', (resource, email) => expect(emailOf(resource)).toBe(email));

  test.each([
    [{ name: { formatted: 'Ms. Ada', givenName: 'Ada' }, displayName: 'A' }, 'Ms. Ada'],
    [{ name: { givenName: 'Ada', familyName: 'Byron' }, displayName: 'A' }, 'Ada Byron'],
    [{ name: { formatted: '\u202e\n' }, displayName: 'A\u202eda\u0007' }, 'Ada'],
    [{ displayName: '😀'.repeat(300) }, '😀'.repeat(100)],
    [{ name: {} }, null],
  ])('the name in %j is %s', (resource, name) => expect(nameOf(resource)).toBe(name));

  test.each([
    ['Ada Augusta Byron', 'Ada', 'Augusta Byron'],
    ['Ada', 'Ada', 'Ada'],
    [null, 'ada', 'ada'],
    [' ', 'ada', 'ada'],
  ])(
    'a member with the name %j has the given name %s and the family name %s',
    (name, givenName, familyName) => {
      const resource = memberResource({ email: 'ada@example.com', name });
      expect(resource).toMatchObject({
        userName: 'ada@example.com',
        name: { givenName, familyName },
      });
      expect(resource.emails).toEqual([{ value: 'ada@example.com', type: 'work', primary: true }]);
    },
  );
});

const view = seen(
  {
    userName: 'a',
    name: { givenName: 'A', familyName: 'B' },
    emails: [{ value: 'a@b.c', type: 'work' }, { type: 'home' }],
    [enterpriseSchema]: { department: 'D', manager: { value: 'm' } },
    active: false,
  },
  'i',
  true,
  new Date(0),
);

describe('RFC 7644 §3.9', () => {
  test('RFC 7643 §3.1 a User is shown with its schemas, id, active and meta', () => {
    expect(view).toMatchObject({
      schemas: [userSchema, enterpriseSchema],
      id: 'i',
      active: true,
      meta: {
        resourceType: 'User',
        created: '1970-01-01T00:00:00.000Z',
        lastModified: '1970-01-01T00:00:00.000Z',
        location: 'https://example.test/Users/i',
        version: 'W/"1"',
      },
    });
  });

  const always = { schemas: [userSchema, enterpriseSchema], id: 'i' };
  test.each<[string, ScimResource]>([
    ['userName', { userName: 'a' }],
    ['USERNAME, nope,', { userName: 'a' }],
    ['name.givenName,name.familyName', { name: { givenName: 'A', familyName: 'B' } }],
    ['emails.value', { emails: [{ value: 'a@b.c' }] }],
    ['emails[type eq "work"]', { emails: [{ value: 'a@b.c', type: 'work' }, { type: 'home' }] }],
    ['emails[type eq "work"].value', { emails: [{ value: 'a@b.c' }] }],
    [`${userSchema}:userName`, { userName: 'a' }],
    [`${enterpriseSchema}:manager.value`, { [enterpriseSchema]: { manager: { value: 'm' } } }],
    [enterpriseSchema, { [enterpriseSchema]: { department: 'D', manager: { value: 'm' } } }],
    ['meta.version', { meta: { version: 'W/"1"' } }],
    ['nope', {}],
  ])('attributes=%s returns the named attributes', (asked, expected) => {
    expect(readProjection({ attributes: asked }).of(view)).toEqual({ ...always, ...expected });
  });

  test('excludedAttributes removes the named attributes, except those that are always returned', () => {
    const excludedAttributes = `id,schemas,meta,emails.type,name,${enterpriseSchema}:department,nope`;
    expect(readProjection({ excludedAttributes }).of(view)).toEqual({
      ...always,
      userName: 'a',
      active: true,
      emails: [{ value: 'a@b.c' }],
      [enterpriseSchema]: { manager: { value: 'm' } },
    });
  });

  test('without attributes and excludedAttributes, the whole resource is returned; both together are refused', () => {
    expect(readProjection({ attributes: '', excludedAttributes: ' ' }).of(view)).toEqual(view);
    expect(scimTypeOf(() => readProjection({ attributes: 'id', excludedAttributes: 'meta' }))).toBe(
      'invalidValue',
    );
  });
});

describe('RFC 7643 §5 to §7', () => {
  const base = 'https://example.test/scim/v2/orgs/o';

  test('the service provider configuration promises only supported features', () => {
    expect(serviceProviderConfig(base, { maxResults: 200 })).toMatchObject({
      patch: { supported: true },
      bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
      filter: { supported: true, maxResults: 200 },
      changePassword: { supported: false },
      sort: { supported: true },
      etag: { supported: true },
      authenticationSchemes: [{ type: 'oauthbearertoken' }],
    });
    expect(resourceTypes(base)).toMatchObject([
      {
        id: 'User',
        endpoint: '/Users',
        schema: userSchema,
        schemaExtensions: [{ schema: enterpriseSchema }],
      },
      { id: 'Group', endpoint: '/Groups', schemaExtensions: [] },
    ]);
  });

  type Described = {
    name: string;
    type: string;
    multiValued: boolean;
    mutability: string;
    subAttributes?: Described[];
  };
  const described = (id: string) =>
    // The shape is what `viewAttribute` writes.
    schemas(base).find((schema) => schema['id'] === id)?.['attributes'] as unknown as Described[];

  const example = (attribute: Described): unknown => {
    const one =
      attribute.type === 'complex'
        ? Object.fromEntries(
            (attribute.subAttributes ?? [])
              .filter((sub) => sub.mutability === 'readWrite')
              .map((sub) => [sub.name, example(sub)]),
          )
        : attribute.type === 'boolean' || 'text';
    return attribute.multiValued ? [one] : one;
  };
  const filled = (id: string) =>
    Object.fromEntries(
      described(id)
        // The client writes the groups of a User at /Groups.
        .filter(({ mutability }) => mutability === 'readWrite')
        .map((one) => [one.name, example(one)]),
    );

  test('every writable attribute in /Schemas is read unchanged, and /Schemas describes exactly the returned attributes', () => {
    const body = { ...filled(userSchema), [enterpriseSchema]: filled(enterpriseSchema) };
    expect(readCreation(body)).toEqual(body);
    expect(described(userSchema).map(({ name }) => name)).not.toContain('password');
    const names = [...described(userSchema), ...described(enterpriseSchema)].map(
      ({ name }) => name,
    );
    const shown = attributes.filter((one) => one.schema !== '' && one.returned !== 'never');
    expect(names).toEqual(shown.map(({ name }) => name));
  });

  test('an attribute is described in full', () => {
    expect(described(userSchema).find(({ name }) => name === 'userName')).toEqual({
      name: 'userName',
      type: 'string',
      multiValued: false,
      description: expect.any(String),
      required: true,
      caseExact: false,
      mutability: 'readWrite',
      returned: 'default',
      uniqueness: 'server',
    });
    const emails = described(userSchema).find(({ name }) => name === 'emails');
    expect(emails).toMatchObject({ type: 'complex', multiValued: true });
    expect(emails?.subAttributes?.map(({ name }) => name).sort()).toEqual([
      'display',
      'primary',
      'type',
      'value',
    ]);
    expect(emails?.subAttributes).toContainEqual(
      expect.objectContaining({ name: 'type', canonicalValues: ['work', 'home', 'other'] }),
    );
  });
});
