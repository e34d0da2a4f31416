import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../src/errors.ts';
import {
  enterpriseSchema,
  type ScimResource,
  userSchema,
} from '../../src/services/foundation/scim-user/attribute.ts';
import { filterCondition } from '../../src/services/provisioning/scim/filter.sql.ts';
import { parseFilter } from '../../src/services/provisioning/scim/filter.ts';
import { matches } from '../../src/services/provisioning/scim/filter-match.ts';
import { filters } from '../support/scim.ts';

const barbara: ScimResource = {
  schemas: [userSchema, enterpriseSchema],
  id: '2819c223-7f76-453a-919d-413861904646',
  externalId: 'BJensen',
  userName: 'bjensen@example.com',
  name: { familyName: "O'Malley", givenName: 'Barbara "B"' },
  title: '',
  userType: 'Employee',
  active: true,
  emails: [
    { value: 'bjensen@example.com', type: 'work', primary: true },
    { value: 'babs@example.org', type: 'home' },
  ],
  ims: [{ value: 'someaimhandle@foo.com', type: 'xmpp' }],
  [enterpriseSchema]: { employeeNumber: '701984', manager: { value: '26118915' } },
  meta: {
    resourceType: 'User',
    created: '2010-01-23T04:56:22Z',
    lastModified: '2011-05-13T04:42:34Z',
    location: 'https://example.com/v2/Users/2819c223',
    version: 'W/"1"',
  },
};

const says = (filter: string, resource = barbara) => matches(resource, parseFilter(filter));

describe('RFC 7644 §3.4.2.2 a filter', () => {
  test.each([
    // The examples in figure 2 of RFC 7644.
    ['userName Eq "bjensen"', false],
    ['userName eq "BJensen@Example.com"', true],
    ['name.familyName co "O\'Malley"', true],
    ['userName sw "J"', false],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName sw "J"', false],
    ['title pr', false],
    ['meta.lastModified gt "2011-05-13T04:42:34Z"', false],
    ['meta.lastModified ge "2011-05-13T04:42:34Z"', true],
    ['meta.lastModified lt "2011-05-13T04:42:34Z"', false],
    ['meta.lastModified le "2011-05-13T04:42:34Z"', true],
    ['title pr and userType eq "Employee"', false],
    ['title pr or userType eq "Intern"', false],
    [`schemas eq "${enterpriseSchema}"`, true],
    ['userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")', true],
    [
      'userType ne "Employee" and not (emails co "example.com" or emails.value co "example.org")',
      false,
    ],
    ['userType eq "Employee" and (emails.type eq "work")', true],
    ['userType eq "Employee" and emails[type eq "work" and value co "@example.com"]', true],
    [
      'emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp" and value co "@foo.com"]',
      true,
    ],
    // One element must match the whole bracket.
    ['emails[type eq "work" and value co "example.org"]', false],
    ['emails.type eq "work" and emails.value co "example.org"', true],
    ['emails[not (type eq "work")]', true],
    ['emails[type eq "HOME"].value eq "BABS@example.org"', true],
    ['emails[type eq "home"].value eq "bjensen@example.com"', false],
    ['emails[type eq "home"].primary pr', false],
  ])('the filter %s is %s', (filter, expected) => expect(says(filter)).toBe(expected));

  test.each([
    // Letter case: RFC 7643 §2.2; externalId is exact.
    ['externalId eq "bjensen"', false],
    ['externalId eq "BJensen"', true],
    ['ExternalID EQ "BJensen" AND UserType EQ "employee"', true],
    ['externalId co "Jensen" and not (externalId co "JENSEN")', true],
    // Precedence: not before and before or.
    ['userType eq "Employee" or userType eq "x" and userType eq "y"', true],
    ['(userType eq "Employee" or userType eq "x") and userType eq "y"', false],
    ['not (userType eq "x") and userType eq "y" or active eq true', true],
    ['NOT(active eq false)and(active eq true)', true],
    // Filters that providers send.
    ['userName sw b', true],
    ['userName eq bjensen@example.com', true],
    ['active eq "True"', true],
    ['active eq False', false],
    ['active ne false', true],
    [`${enterpriseSchema}:employeeNumber eq 701984`, true],
    [`${enterpriseSchema.toUpperCase()}:MANAGER.VALUE eq "26118915"`, true],
    [`${enterpriseSchema}:manager eq "26118915"`, true],
    // Times, in any zone and precision.
    ['meta.created eq "2010-01-23T05:56:22.000+01:00"', true],
    ['meta.created lt "2010-01-23T04:56:22.001Z"', true],
    ['meta.created gt "2010-01-23"', true],
    ['meta.created eq "2010-01-23T04:56:22"', true],
    // Attributes without a value.
    ['nickName eq "x"', false],
    ['nickName ne "x"', true],
    ['nickName eq null', true],
    ['userName ne null', true],
    ['roles pr', false],
    ['roles ne "x"', true],
    ['nickName gt ""', false],
    ['emails.display ne "x"', true],
    // Escapes are JSON's.
    ['name.givenName eq "Barbara \\"B\\""', true],
    ['name.givenName eq "\\u0042arbara \\u0022B\\u0022"', true],
    ['name.givenName co "\\\\"', false],
    ['userName sw "" and userName ew "" and userName co ""', true],
    ['name[givenName sw "Barb"]', true],
    ['meta.resourceType eq "User"', true],
    ['id eq "2819c223-7f76-453a-919d-413861904646"', true],
  ])('the filter %s is %s', (filter, expected) => expect(says(filter)).toBe(expected));

  test('orders by code points, as the databases do', () => {
    const options = { dialect: 'postgres', first: 2, organization: 1 } as const;
    expect(filterCondition(parseFilter('displayName gt "x"'), options).sql).toContain(
      'COLLATE "C" >',
    );
    expect(says('displayName gt "\uffff"', { displayName: '😀' })).toBe(true);
  });

  test('matches an accent in both Unicode forms', () => {
    expect(says('displayName eq "Rene\\u0301"', { displayName: 'ren\u00e9' })).toBe(true);
  });

  test('folds a sigma at the end of a word like any other sigma', () => {
    expect(says('displayName co "Σ"', { displayName: 'ΟΔΟΣ' })).toBe(true);
    expect(says('displayName eq "οδοσ"', { displayName: 'ΟΔΟΣ' })).toBe(true);
  });
});

const refused = (filter: string): Refusal => {
  try {
    parseFilter(filter);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error(`not refused: ${filter}`);
};

describe('RFC 7644 §3.12 invalidFilter', () => {
  test.each([
    ...[
      '',
      ' ',
      '(',
      ')',
      '()',
      'userName',
      'userName eq',
      'eq "x"',
      '"userName" eq "x"',
      'userName = "x"',
    ],
    ...[
      'userName eq "x',
      'userName eq "x\\"',
      'userName eq "\\x41"',
      'userName eq "a\nb"',
      'userName eq "x" and',
    ],
    ...[
      'userName eq "x" userName eq "y"',
      'and userName pr',
      'not userName pr',
      'not',
      'userName pr)',
      '(userName pr',
    ],
    ...[
      'emails[type eq "work"',
      'emails type eq "work"]',
      'emails[]',
      'emails[emails[type pr]]',
      'emails[nope pr]',
    ],
    ...[
      'emails[type pr].',
      'emails[type pr].nope pr',
      'emails.type[value pr]',
      'userName[value pr]',
    ],
    // A filter that cannot be evaluated must not match everything.
    ...[
      'nope eq "x"',
      'name.nope pr',
      'department eq "x"',
      'urn:x:userName eq "x"',
      'password eq "x"',
      'password pr',
    ],
    ...[
      'meta.location pr',
      'meta.version eq "x"',
      'name eq "x"',
      'addresses eq "x"',
      'meta eq "x"',
      'groups[value sw "a"]',
    ],
    ...[
      '__proto__ pr',
      'constructor pr',
      'name.__proto__ eq "x"',
      'toString pr',
      'emails[constructor pr]',
    ],
    ...['active gt true', 'active co "t"', 'active eq "maybe"', 'active eq 1', 'userName gt null'],
    ...[
      'meta.created co "2010"',
      'meta.created eq "yesterday"',
      'meta.created eq "2010-13-45T00:00:00Z"',
    ],
    ...['meta.created gt "0000-01-01T00:00:00Z"', 'meta.created gt "9999-12-31T23:59:59-23:59"'],
    ...[
      'x509Certificates.value gt "x"',
      'userName eq "\\u0000"',
      'userName eq "\\ud800"',
      'userName eq \0',
    ],
  ])('%j is refused', (filter) => {
    const refusal = refused(filter);
    expect([refusal.kind, refusal.scimType]).toEqual(['invalid', 'invalidFilter']);
  });

  const terms = (count: number, term: string) =>
    Array.from({ length: count }, () => term).join(' or ');
  const nested = (depth: number) => `${'('.repeat(depth)}title pr${')'.repeat(depth)}`;

  test('a filter beyond the limits of length, depth or terms is refused', () => {
    expect(() => parseFilter(nested(32))).not.toThrow();
    expect(refused(nested(33)).message).toContain('32');
    expect(() =>
      parseFilter(Array.from({ length: 40 }, () => '(active pr)').join(' and ')),
    ).not.toThrow();
    expect(() => parseFilter(terms(64, 'userName eq "x"'))).not.toThrow();
    expect(refused(terms(65, 'userName eq "x"')).message).toContain('64');
    expect(() => parseFilter(terms(16, 'title eq "x"'))).not.toThrow();
    expect(refused(terms(17, 'title eq "x"')).message).toContain('16');
    expect(() => parseFilter(`title eq "${'x'.repeat(4096 - 11)}"`)).not.toThrow();
    expect(refused(`title eq "${'x'.repeat(4096 - 10)}"`).message).toContain('4096');
  });

  test('ten thousand parentheses are refused in milliseconds', () => {
    const start = performance.now();
    refused('('.repeat(10_000));
    refused('not('.repeat(1000));
    refused(`emails[${'('.repeat(4000)}`);
    // Without the limits, this takes seconds or overflows the stack.
    expect(performance.now() - start).toBeLessThan(500);
  });
});

test('a filter, its opposite and both together agree on every resource', () => {
  fc.assert(
    fc.property(filters(['x']), (filter) => {
      const itself = says(filter);
      expect(says(`not (${filter})`)).toBe(!itself);
      expect(says(`(${filter}) or not (${filter})`)).toBe(true);
      expect(says(`(${filter}) and not (${filter})`)).toBe(false);
    }),
  );
});
