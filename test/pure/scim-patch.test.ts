import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../src/errors.ts';
import {
  enterpriseSchema,
  type ScimResource,
} from '../../src/services/foundation/scim-user/attribute.ts';
import { parseFilter } from '../../src/services/provisioning/scim/filter.ts';
import { matches } from '../../src/services/provisioning/scim/filter-match.ts';
import { applyPatch } from '../../src/services/provisioning/scim/patch.ts';
import { resources, word } from '../support/scim.ts';

const work = { value: 'bjensen@example.com', type: 'work', primary: true };
const home = { value: 'babs@jensen.org', type: 'home' };
const barbara: ScimResource = {
  userName: 'bjensen',
  externalId: 'b',
  active: true,
  name: { givenName: 'Barbara', familyName: 'Jensen' },
  emails: [work, home],
};

const patched = (operations: unknown, resource = barbara) =>
  applyPatch(resource, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: operations,
  });
const result = (...operations: unknown[]) => patched(operations).resource;
const refused = (...operations: unknown[]) => {
  try {
    patched(operations);
  } catch (error) {
    if (error instanceof Refusal) return error.scimType;
    throw error;
  }
  throw new Error(`not refused: ${JSON.stringify(operations)}`);
};

describe('RFC 7644 §3.5.2', () => {
  test('§3.5.2.1 add appends new elements to a list, and a new primary element is the only primary one', () => {
    const more = { value: 'new@example.com', type: 'other', primary: true };
    expect(result({ op: 'add', path: 'emails', value: [more] })['emails']).toEqual([
      { ...work, primary: false },
      home,
      more,
    ]);
    expect(patched([{ op: 'add', path: 'emails', value: [home] }]).changed).toBe(false);
    expect(
      patched([{ op: 'add', path: 'emails', value: { type: 'home', value: 'babs@jensen.org' } }])
        .changed,
    ).toBe(false);
  });

  test('§3.5.2.1 add without a path adds every attribute of the value', () => {
    const value = {
      emails: [{ value: 'x@y.z', type: 'home' }],
      nickname: 'Babs',
      name: { middleName: 'Jane' },
    };
    expect(result({ op: 'add', value })).toEqual({
      ...barbara,
      emails: [work, home, { value: 'x@y.z', type: 'home' }],
      nickName: 'Babs',
      name: { givenName: 'Barbara', familyName: 'Jensen', middleName: 'Jane' },
    });
  });

  test('§3.5.2.2 remove removes an attribute, the matching elements, or a part of them', () => {
    expect(result({ op: 'remove', path: 'externalId' })).not.toHaveProperty('externalId');
    expect(result({ op: 'remove', path: 'emails' })).not.toHaveProperty('emails');
    expect(result({ op: 'remove', path: 'name.givenName' })['name']).toEqual({
      familyName: 'Jensen',
    });
    expect(result({ op: 'remove', path: 'emails[type eq "work"]' })['emails']).toEqual([home]);
    const both = 'emails[type eq "work" and value ew "example.com"]';
    expect(result({ op: 'remove', path: both })['emails']).toEqual([home]);
    expect(result({ op: 'remove', path: 'emails[type eq "home"].type' })['emails']).toEqual([
      work,
      { value: 'babs@jensen.org' },
    ]);
    expect(
      result({ op: 'remove', path: 'emails', value: [{ value: 'babs@jensen.org' }] })['emails'],
    ).toEqual([work]);
  });

  test('an extension without values is removed', () => {
    const given = { op: 'add', path: `${enterpriseSchema}:department`, value: 'Sales' };
    expect(result(given, { op: 'remove', path: `${enterpriseSchema}:department` })).toEqual(
      barbara,
    );
    expect(result(given, { op: 'remove', path: enterpriseSchema })).toEqual(barbara);
    expect(result(given, { op: 'replace', value: { [enterpriseSchema]: null } })).toEqual(barbara);
    expect(result({ op: 'add', path: enterpriseSchema, value: { department: 'Sales' } })).toEqual(
      result(given),
    );
  });

  test('§3.5.2.2 an e-mail with only type and primary left is removed', () => {
    expect(result({ op: 'remove', path: 'emails[type eq "work"].value' })['emails']).toEqual([
      home,
    ]);
    expect(
      result({ op: 'replace', path: 'emails[type eq "work"].value', value: null })['emails'],
    ).toEqual([home]);
  });

  test('§3.5.2.3 replace replaces a whole list, but only the given parts of a complex attribute', () => {
    const only = { value: 'a@b.c', type: 'work', primary: true };
    expect(result({ op: 'replace', path: 'emails', value: [only] })['emails']).toEqual([only]);
    expect(result({ op: 'replace', path: 'name', value: { givenName: 'B' } })['name']).toEqual({
      givenName: 'B',
      familyName: 'Jensen',
    });
    expect(result({ op: 'replace', path: 'name', value: { givenName: null } })['name']).toEqual({
      familyName: 'Jensen',
    });
    expect(result({ op: 'replace', path: 'name.givenName', value: '' })['name']).toEqual({
      givenName: '',
      familyName: 'Jensen',
    });
    expect(result({ op: 'replace', path: 'name', value: '' })).not.toHaveProperty('name');
    expect(result({ op: 'replace', path: 'nickName', value: 'B' })['nickName']).toBe('B');
  });

  test('§3.5.2.3 replace of a matching element replaces it whole, except the type in the path', () => {
    const path = 'emails[type eq "work"]';
    expect(result({ op: 'replace', path, value: { value: 'a@b.c' } })['emails']).toEqual([
      { type: 'work', value: 'a@b.c' },
      home,
    ]);
    expect(result({ op: 'add', path, value: { display: 'B' } })['emails']).toEqual([
      { ...work, display: 'B' },
      home,
    ]);
    expect(result({ op: 'replace', path: `${path}.value`, value: 'a@b.c' })['emails']).toEqual([
      { ...work, value: 'a@b.c' },
      home,
    ]);
    expect(
      result({ op: 'replace', path: 'emails[type eq "home"].primary', value: 'True' })['emails'],
    ).toEqual([
      { ...work, primary: false },
      { ...home, primary: true },
    ]);
    expect(
      result({ op: 'replace', path: 'emails[type pr].primary', value: true })['emails'],
    ).toEqual([work, { ...home, primary: false }]);
  });

  test('operations are applied in order, each to the result of the one before', () => {
    const operations = [
      { op: 'remove', path: 'emails' },
      { op: 'add', path: 'emails', value: [{ value: 'a@b.c', type: 'work' }] },
      { op: 'replace', path: 'emails[type eq "work"].type', value: 'home' },
    ];
    expect(result(...operations)['emails']).toEqual([{ value: 'a@b.c', type: 'home' }]);
  });
});

describe('design scim.md: requests of providers', () => {
  test('Entra may send capital ops, "False", and dotted and URN keys without a path', () => {
    const value = {
      active: 'False',
      'name.givenName': 'B',
      [`${enterpriseSchema}:department`]: 'Sales',
      [enterpriseSchema]: { employeeNumber: 7, manager: null },
      'emails[type eq "work"].value': 'b@example.com',
    };
    expect(patched([{ op: 'Replace', value }])).toEqual({
      resource: {
        ...barbara,
        active: false,
        name: { givenName: 'B', familyName: 'Jensen' },
        emails: [{ ...work, value: 'b@example.com' }, home],
        [enterpriseSchema]: { department: 'Sales', employeeNumber: '7' },
      },
      changed: true,
      active: false,
    });
  });

  test.each([
    ['phoneNumbers[type eq "mobile"].value', 'phoneNumbers', [{ type: 'mobile', value: '1' }]],
    ['roles[primary eq "True"].value', 'roles', [{ primary: true, value: '1' }]],
    [
      'addresses[type eq "work" and primary eq true].country',
      'addresses',
      [{ type: 'work', primary: true, country: '1' }],
    ],
    ['phoneNumbers.value', 'phoneNumbers', [{ value: '1' }]],
  ])('Entra: %s creates a missing element', (path, name, expected) => {
    for (const op of ['Add', 'Replace'])
      expect(result({ op, path, value: '1' })[name]).toEqual(expected);
    expect(patched([{ op: 'Replace', path, value: null }]).changed).toBe(false);
  });

  test.each([
    ['m'],
    [['m']],
    [{ value: 'm' }],
    [[{ value: 'm' }]],
    [{ Value: 'm', displayName: 'read-only' }],
  ])('Entra may send the manager as %j', (value) => {
    const path = `${enterpriseSchema}:manager`;
    expect(result({ op: 'Add', path, value })[enterpriseSchema]).toEqual({
      manager: { value: 'm' },
    });
  });

  test.each([[false], ['False'], ['false'], [[{ value: 'False' }]], [[false]], [{ value: false }]])(
    'active as %j deactivates, with and without a path',
    (value) => {
      expect(patched([{ op: 'replace', path: 'Active', value }]).active).toBe(false);
      expect(patched([{ OP: 'REPLACE', VALUE: { ACTIVE: value } }]).active).toBe(false);
      expect(patched([{ op: 'add', value: [{ active: value }] }]).active).toBe(false);
    },
  );

  test('Okta may send unknown attributes and a password in a value without a path', () => {
    const value = {
      active: false,
      password: 'secret',
      groups: [],
      favouriteColour: 'blue',
      schemas: [],
    };
    expect(patched([{ op: 'replace', value }]).resource).toEqual({ ...barbara, active: false });
    expect(patched([{ op: 'replace', value: { password: 'secret' } }]).changed).toBe(false);
  });

  test('no operations, missing schemas and values that are already set change nothing', () => {
    expect(patched([]).changed).toBe(false);
    expect(applyPatch(barbara, { operations: [] }).changed).toBe(false);
    expect(patched([{ op: 'replace', value: { ...barbara } }]).changed).toBe(false);
    expect(patched([{ op: 'replace', path: null, value: { active: 'true' } }]).changed).toBe(false);
    expect(patched([{ op: 'remove', path: 'nickName' }]).changed).toBe(false);
    expect(patched([{ op: 'add', path: 'roles', value: [] }]).changed).toBe(false);
  });
});

describe('design scim.md: tolerated', () => {
  test('PingOne: of two primary values, the first stays primary, but an added primary value wins', () => {
    const second = { ...home, primary: true };
    expect(result({ op: 'replace', path: 'emails', value: [work, second] })['emails']).toEqual([
      work,
      { ...home, primary: false },
    ]);
    expect(result({ op: 'add', path: 'emails', value: second })['emails']).toEqual([
      { ...work, primary: false },
      home,
      second,
    ]);
  });

  test('Entra: a bare enterprise name is the attribute of the extension, in a path and in a value', () => {
    const department = { [enterpriseSchema]: { department: 'Sales' } };
    expect(result({ op: 'Add', path: 'department', value: 'Sales' })).toEqual({
      ...barbara,
      ...department,
    });
    expect(result({ op: 'replace', value: { Department: 'Sales' } })).toEqual({
      ...barbara,
      ...department,
    });
    const manager = { [enterpriseSchema]: { manager: { value: 'm-1' } } };
    for (const value of ['m-1', { value: 'm-1' }, [{ value: 'm-1' }]]) {
      expect(result({ op: 'Add', path: 'manager', value })).toEqual({ ...barbara, ...manager });
      expect(result({ op: 'Add', value: { manager: value } })).toEqual({ ...barbara, ...manager });
    }
    expect(result({ op: 'Add', path: 'manager.value', value: 'm-1' })).toEqual({
      ...barbara,
      ...manager,
    });
  });

  test('Microsoft: removing a value that is not there changes nothing, and the next operation applies', () => {
    const fax = { op: 'remove', path: 'emails[type eq "fax"]' };
    expect(patched([fax]).changed).toBe(false);
    expect(
      patched([{ ...fax, path: 'emails[type eq "fax" or value co "x@"].value' }]).changed,
    ).toBe(false);
    expect(result(fax, { op: 'add', path: 'displayName', value: 'Babs' })['displayName']).toBe(
      'Babs',
    );
  });

  test('id and meta of the resource itself, in a value without a path, are ignored', () => {
    const own = { id: 'u-1', meta: { resourceType: 'User', version: 'W/"3"' } };
    const given = (value: object) =>
      applyPatch(barbara, { Operations: [{ op: 'replace', value }] }, own).resource;
    const displayName = 'Babs';
    for (const same of [own, { ID: 'u-1' }, { meta: { version: 'W/"3"' } }, { meta: {} }]) {
      expect(given({ ...same, displayName })).toEqual({ ...barbara, displayName });
    }
    for (const other of [
      { id: 'u-2' },
      { meta: { version: 'W/"2"' } },
      { meta: 'x' },
      { id: null },
    ]) {
      expect(() => given({ ...other, displayName })).toThrow(
        expect.objectContaining({ scimType: 'mutability' }),
      );
    }
  });

  test('an e-mail, a telephone number or a manager whose value becomes empty is removed', () => {
    const empty = { op: 'replace', path: 'emails[type eq "home"].value', value: '' };
    expect(result(empty)['emails']).toEqual([work]);
    expect(
      result({ op: 'replace', path: 'emails', value: [{ ...work, value: '' }, home] })['emails'],
    ).toEqual([home]);
    expect(
      result({ op: 'add', path: 'phoneNumbers', value: [{ type: 'work', value: '' }] }),
    ).toEqual(barbara);
    expect(
      result({ op: 'add', path: 'emails', value: { ...home, value: '', primary: true } }),
    ).toEqual(barbara);
    const path = `${enterpriseSchema}:manager`;
    for (const value of ['', { value: '' }, { value: '', $ref: '../Users/m-1' }]) {
      expect(result({ op: 'add', path, value: 'm-1' }, { op: 'replace', path, value })).toEqual(
        barbara,
      );
    }
    const part = { op: 'replace', path: `${path}.value`, value: '' };
    expect(result({ op: 'add', path, value: 'm-1' }, part)).toEqual(barbara);
  });
});

describe('design scim.md: refused', () => {
  test.each([
    ['invalidSyntax', { op: 'move', path: 'userName' }],
    ['invalidSyntax', { path: 'userName', value: 'x' }],
    ['invalidSyntax', 'replace'],
    ['invalidSyntax', { op: { toString: null }, path: 'userName', value: 'x' }],
    ['invalidValue', { op: 'replace', path: 'active', value: ['', { toString: null }] }],
    ['noTarget', { op: 'remove' }],
    ['noTarget', { op: 'replace', path: 'emails[type eq "fax"]', value: { value: 'x' } }],
    ['noTarget', { op: 'replace', path: 'emails[value co "nobody"].type', value: 'x' }],
    ['noTarget', { op: 'replace', path: 'emails[type eq "fax"].type', value: 'home' }],
    ['noTarget', { op: 'add', path: 'emails[type eq "fax" and value co "x"].display', value: 'x' }],
    ['invalidValue', { op: 'replace', path: 'active', value: 'maybe' }],
    ['invalidValue', { op: 'replace', path: 'active', value: '' }],
    ['invalidValue', { op: 'replace', path: 'active', value: 0 }],
    ['invalidValue', { op: 'replace', path: 'active', value: null }],
    ['invalidValue', { op: 'replace', path: 'active', value: {} }],
    ['invalidValue', { op: 'replace', path: 'active', value: [true, false] }],
    ['invalidValue', { op: 'replace', value: { active: null } }],
    ['invalidValue', { op: 'remove', path: 'active' }],
    ['invalidValue', { op: 'replace', path: 'active' }],
    ['invalidValue', { op: 'replace', path: 'title' }],
    ['invalidValue', { op: 'replace', value: 'active' }],
    ['invalidValue', { op: 'replace', path: 'userName', value: ' ' }],
    ['invalidValue', { op: 'replace', path: 'userName', value: 'x'.repeat(401) }],
    ['invalidValue', { op: 'replace', path: 'displayName', value: { first: 'x' } }],
    ['invalidValue', { op: 'replace', path: 'displayName', value: ['a', 'b'] }],
    ['invalidValue', { op: 'replace', path: 'displayName', value: true }],
    ['invalidValue', { op: 'replace', path: 'displayName', value: 'NUL \0' }],
    ['invalidValue', { op: 'replace', path: 'displayName', value: 'half \ud800' }],
    ['invalidValue', { op: 'replace', path: 'name', value: 'Barbara' }],
    ['invalidValue', { op: 'replace', path: 'name', value: { nope: 1 } }],
    ['invalidValue', { op: 'replace', path: 'emails', value: [{ nope: 1 }] }],
    ['invalidValue', { op: 'add', path: 'displayName', value: 'x'.repeat(300_000) }],
    [
      'invalidValue',
      { op: 'add', path: 'roles', value: Array.from({ length: 201 }, (_, at) => `r${at}`) },
    ],
    ['invalidPath', { op: 'replace', path: 'nope', value: 'x' }],
    ['invalidPath', { op: 'replace', path: 'name.nope', value: 'x' }],
    ['invalidPath', { op: 'replace', path: 'emails[type eq "work"].nope', value: 'x' }],
    ['invalidPath', { op: 'replace', path: 'emails[type eq "work"', value: 'x' }],
    ['invalidPath', { op: 'replace', path: 'emails[type eq "work"]value', value: 'x' }],
    ['invalidPath', { op: 'replace', path: 'userName[type eq "work"]', value: 'x' }],
    ['invalidPath', { op: 'replace', path: 7, value: 'x' }],
    ['invalidPath', { op: 'replace', path: 'manager.nope', value: 'x' }],
    ['invalidPath', { op: 'replace', value: { actve: false } }],
    ['invalidFilter', { op: 'replace', path: 'emails[type zz "work"].value', value: 'x' }],
    ['mutability', { op: 'replace', path: 'id', value: 'x' }],
    ['mutability', { op: 'replace', path: 'META.created', value: 'x' }],
    ['mutability', { op: 'replace', path: 'meta', value: {} }],
    ['mutability', { op: 'add', path: 'groups', value: [{ value: 'x' }] }],
    ['mutability', { op: 'replace', path: 'groups.value', value: 'x' }],
    ['mutability', { op: 'remove', path: 'groups[value eq "x"]' }],
    ['mutability', { op: 'replace', path: 'groups[value eq "x"].display', value: 'x' }],
    ['mutability', { op: 'replace', path: 'schemas', value: [] }],
    ['mutability', { op: 'add', value: { id: 'x' } }],
    ['mutability', { op: 'add', value: { meta: { version: 'W/"9"' } } }],
    ['mutability', { op: 'remove', path: 'userName' }],
    ['mutability', { op: 'replace', path: 'userName', value: null }],
    ['mutability', { op: 'replace', path: 'password', value: 'x' }],
    ['mutability', { op: 'replace', path: `${enterpriseSchema}:manager.displayName`, value: 'x' }],
  ])('%s is the answer to %j', (scimType, operation) => {
    expect(refused(operation)).toBe(scimType);
    // A PATCH is atomic: an earlier operation does not change the given resource either.
    const resource = structuredClone(barbara);
    expect(() =>
      patched([{ op: 'replace', path: 'active', value: false }, operation], resource),
    ).toThrow(Refusal);
    expect(resource).toEqual(barbara);
  });

  test.each([null, [], 'x', {}, { Operations: {} }, { Operations: null }])(
    'invalidSyntax is the answer to the body %j',
    (body) => {
      expect(() => applyPatch(barbara, body)).toThrow(
        expect.objectContaining({ scimType: 'invalidSyntax' }),
      );
    },
  );

  test('a PATCH with more comparisons or values than a real client sends is refused', () => {
    const path = 'emails[type eq "a" or type eq "b"].value';
    const keys = Array.from(
      { length: 26 },
      (_, at) => `emails[type eq "work" or type eq "${at}"].value`,
    );
    expect(
      refused(...Array.from({ length: 26 }, () => ({ op: 'replace', path, value: null }))),
    ).toBe('invalidFilter');
    expect(refused({ op: 'add', value: Object.fromEntries(keys.map((key) => [key, 'x'])) })).toBe(
      'invalidFilter',
    );
    const many = Array.from({ length: 201 }, (_, at) => ({ value: `${at}` }));
    expect(
      refused({ op: 'add', path: 'roles', value: many }, { op: 'remove', path: 'roles' }),
    ).toBe('invalidValue');
  });

  test('more operations than a real client sends are refused', () => {
    expect(refused(...Array.from({ length: 201 }, () => ({ op: 'remove', path: 'title' })))).toBe(
      'invalidValue',
    );
  });

  test.each(['__proto__', 'constructor', 'prototype'])(
    '%s in any key or path is refused, and no prototype is changed',
    (name) => {
      const hidden = JSON.parse(`{"${name}":{"x":1}}`);
      const paths = [
        name,
        `${name}.x`,
        `name.${name}`,
        `emails[${name} eq "1"]`,
        `emails[type eq "work"].${name}`,
      ];
      for (const path of paths) {
        expect(['invalidPath', 'invalidFilter']).toContain(refused({ op: 'add', path, value: 1 }));
      }
      for (const value of [
        hidden,
        { name: hidden },
        { emails: [hidden] },
        { [`${name}.x`]: 1, active: false },
      ]) {
        expect(refused({ op: 'add', value })).toBe('invalidPath');
      }
      expect(
        refused({
          op: 'add',
          path: 'name',
          value: { ...JSON.parse(`{"a":${JSON.stringify(hidden)}}`) },
        }),
      ).toBe('invalidPath');
      expect(({} as Record<string, unknown>)['x']).toBeUndefined();
    },
  );
});

describe('for any resource', () => {
  const attribute = fc.constantFrom(
    'displayName',
    'externalId',
    'name.givenName',
    `${enterpriseSchema}:department`,
  );

  test('a replaced value is found, the same replace again changes nothing, and remove removes the value', () => {
    fc.assert(
      fc.property(resources, attribute, word, (resource, path, value) => {
        const replace = [{ op: 'replace', path, value }];
        const set = patched(replace, resource);
        expect(matches(set.resource, parseFilter(`${path} eq ${JSON.stringify(value)}`))).toBe(
          true,
        );
        expect(patched(replace, set.resource).changed).toBe(false);
        const gone = patched([{ op: 'remove', path }], set.resource);
        expect(matches(gone.resource, parseFilter(`${path} pr`))).toBe(false);
        expect(set.changed).toBe(JSON.stringify(set.resource) !== JSON.stringify(resource));
      }),
    );
  });

  test('replacing a resource by itself changes nothing, and no list ever has two primary values', () => {
    fc.assert(
      fc.property(resources, word, fc.boolean(), (resource, value, primary) => {
        expect(patched([{ op: 'replace', value: resource }], resource).changed).toBe(false);
        const added = patched(
          [{ op: 'add', path: 'emails', value: [{ value, primary }] }],
          resource,
        ).resource;
        const emails = added['emails'];
        const chosen = Array.isArray(emails)
          ? emails.filter((one) => (one as ScimResource)['primary'] === true)
          : [];
        expect(chosen.length).toBeLessThan(2);
      }),
    );
  });
});

describe('security P8: one client does not stall others', () => {
  const photos = Array.from({ length: 200 }, (_, at) => ({
    value: `https://pictures.example/${at}`,
  }));
  const many: ScimResource = { ...barbara, photos };

  test.each([
    ['add', 'photos[value pr]'],
    ['replace', 'photos[value pr]'],
    ['replace', 'photos.display'],
  ])('%s at %s reads its value a few times only, however many elements it changes', (op, path) => {
    let reads = 0;
    const value: object = Object.defineProperty({}, 'value', {
      enumerable: true,
      get: () => {
        reads += 1;
        return 'x';
      },
    });
    expect(patched([{ op, path, value }], many).changed).toBe(true);
    expect(reads).toBeLessThan(5);
  });

  test('a value with more elements than a real User has is refused before any comparison', () => {
    const value = Array.from({ length: 201 }, () => 'x');
    expect(refused({ op: 'remove', path: 'photos', value })).toBe('invalidValue');
  });

  test('a value without a path can change no more attributes than a real User has', () => {
    const spellings = (most: number) =>
      Array.from({ length: most }, (_, at) =>
        [...'photos.display']
          .map((sign, bit) => ((at >> bit) & 1 ? sign.toUpperCase() : sign))
          .join(''),
      );
    const value = (most: number) => Object.fromEntries(spellings(most).map((name) => [name, 'x']));
    expect(patched([{ op: 'add', value: value(50) }], many).changed).toBe(true);
    expect(refused({ op: 'add', value: value(2000) })).toBe('invalidValue');
  });
});
