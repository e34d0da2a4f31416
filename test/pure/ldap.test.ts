import fc from 'fast-check';
import { FilterParser } from 'ldapts';
import { describe, expect, test } from 'vitest';
import type { DirectoryEntry } from '../../src/outbound/directory/directory.ts';
import { canonicalUser } from '../../src/services/foundation/limits/ldap.ts';
import { groupsHeld } from '../../src/services/provisioning/mappings/plan.ts';
import { canonicalDn, commonNameOf, isUnder } from '../../src/services/tenancy/ldap/dn.ts';
import { faultOfFilter, fillFilter, openFilter } from '../../src/services/tenancy/ldap/filter.ts';
import { onePerson } from '../../src/services/tenancy/ldap/find-person.ts';
import { saveLdapInput, signInByLdapInput } from '../../src/services/tenancy/ldap/schema.ts';

describe('distinguished names', () => {
  test.each([
    ['uid=ada,dc=acme,dc=test', 'UID=Ada , DC=ACME,dc=test'],
    ['cn=Byron\\, Ada,dc=acme', 'cn=byron\\2c  ada,dc=acme'],
    ['cn=a+uid=b,dc=acme', 'UID=B + CN=A,dc=acme'],
    ['cn=J\\C3\\BCrgen,dc=acme', 'cn=jürgen,dc=acme'],
    ['cn=\\ ada\\ ,dc=acme', 'cn=ada,dc=acme'],
    ['2.5.4.3=x,dc=acme', '2.5.4.3=X,DC=acme'],
  ])('%s equals %s', (one, other) => {
    expect(canonicalDn(one)).not.toBeNull();
    expect(canonicalDn(one)).toEqual(canonicalDn(other));
  });

  test.each([
    ['uid=a\\,dc=acme', 'uid=a,dc=acme'],
    ['cn=a\\+uid=b', 'cn=a+uid=b'],
    ['cn=a,dc=x', 'cn=a\\,dc=x'],
    ['cn=a\\\\,dc=x', 'cn=a\\\\\\,dc=x'],
  ])('%s does not equal %s', (one, other) => {
    expect(canonicalDn(one)).not.toEqual(canonicalDn(other));
  });

  test.each([
    '',
    'ada',
    '=x',
    'cn',
    'cn=a,',
    'cn=a\\',
    'cn=a;dc=b',
    'cn="a"',
    '1a=b',
    'cn=\\ff',
    ',',
  ])('%j is not a distinguished name', (text) => {
    expect(canonicalDn(text)).toBeNull();
  });

  test('an entry is below a base only if whole names match', () => {
    const base = canonicalDn('ou=people,dc=acme,dc=test') ?? [];
    const under = (text: string) => isUnder(canonicalDn(text) ?? [], base);
    expect(under('uid=a, OU=People,DC=acme,dc=test')).toBe(true);
    expect(under('ou=people,dc=acme,dc=test')).toBe(true);
    expect(under('uid=a,xou=people,dc=acme,dc=test')).toBe(false);
    expect(under('uid=a\\,ou=people,dc=acme,dc=test')).toBe(false);
    expect(under('dc=acme,dc=test')).toBe(false);
    expect(under('')).toBe(false);
  });

  test('a canonical name does not change if it is made canonical again', () => {
    const text = fc.stringMatching(/^cn=[a-zA-Z ,+\\=]{0,8},dc=[a-z]{1,4}$/);
    fc.assert(
      fc.property(text, (given) => {
        const dn = canonicalDn(given);
        if (dn !== null) expect(canonicalDn(dn.join(','))).toEqual(dn);
      }),
    );
  });

  test('the common name of a group is its first name, if that is a single cn', () => {
    expect(commonNameOf(canonicalDn('CN=Dev\\, Ops,ou=groups,dc=acme') ?? [])).toBe('dev, ops');
    expect(commonNameOf(canonicalDn('ou=dev,dc=acme') ?? [])).toBeNull();
    expect(commonNameOf(canonicalDn('cn=dev+ou=x,dc=acme') ?? [])).toBeNull();
  });
});

describe('L3 the search filter', () => {
  test.each([
    ['(uid=ada)', 'must contain {username}'],
    ['({username}=ada)', 'after an equals sign'],
    ['(&(uid={username})({username}=x))', 'after an equals sign'],
    ['(uid={username}', 'as many closing as opening parentheses'],
    ['(uid={username}))', 'as many closing as opening parentheses'],
    ['(&(uid={username})(objectClass=person)', 'as many closing as opening parentheses'],
    ['(!(uid={username})', 'as many closing as opening parentheses'],
    ['(uid=){username})(', 'must be a filter'],
    ['(&)(uid={username})', 'must be a filter'],
    ['(&(uid={username})(cn=\\c3\\a9))', 'outside ASCII'],
  ])('L3 %s is refused', (filter, said) => {
    expect(faultOfFilter(filter)).toContain(said);
  });

  test.each([
    '(uid={username})',
    'uid={username}',
    '(&(objectClass=person)(|(uid={username})(mail={username})))',
    '(&(objectCategory=person)(sAMAccountName={username})(!(userAccountControl:1.2.840.113556.1.4.803:=2)))',
    '(&(userPrincipalName={username})(memberOf:1.2.840.113556.1.4.1941:=cn=all,dc=acme,dc=test))',
  ])('L3 %s is accepted', (filter) => {
    expect(faultOfFilter(filter)).toBeNull();
  });

  test.each([
    ['*', '(uid=\\2a)'],
    ['a*', '(uid=a\\2a)'],
    [')(uid=*))(|(uid=*', '(uid=\\29\\28uid=\\2a\\29\\29\\28|\\28uid=\\2a)'],
    ['\\2a', '(uid=\\5c2a)'],
    ['a\0b', '(uid=a\\00b)'],
    ['$&jürgen', '(uid=$&jürgen)'],
  ])('L3 the user name %j becomes one value of the filter', (username, filter) => {
    expect(fillFilter('(uid={username})', username)).toBe(filter);
  });

  test('L3 for any user name, the library reads one equality with exactly this name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (username) => {
        const filter = FilterParser.parseString(
          fillFilter('(&(objectClass=person)(uid={username}))', username),
        );
        expect(filter).toMatchObject({
          filters: [{ value: 'person' }, { attribute: 'uid', value: username }],
        });
      }),
    );
  });

  test('the filter of a sample matches every person that the filter can find', () => {
    expect(openFilter('(&(a=b)(cn=*{username}*))')).toBe('(&(a=b)(cn=*))');
  });
});

describe('L4 exactly one entry', () => {
  const reading = {
    searchBase: 'ou=people,dc=acme,dc=test',
    searchFilter: '(uid={username})',
    emailAttribute: 'mail',
    givenNameAttribute: 'givenName',
    familyNameAttribute: 'sn',
    groupsAttribute: 'memberOf',
  };
  const entry = (
    attributes: Record<string, (string | Buffer)[]>,
    dn = 'uid=Ada,ou=People,dc=acme,dc=test',
  ) => ({
    dn,
    attributes: new Map(Object.entries(attributes)),
  });
  const one = (found: DirectoryEntry, more = false) =>
    onePerson({ entries: [found], more }, reading);
  const read = (attributes: Record<string, (string | Buffer)[]>) => {
    const found = one(entry(attributes));
    return found.ok ? found.person : null;
  };

  test('L4 no entry, two entries, a cut-off result or an entry outside the base identify no person', () => {
    const ada = entry({});
    expect(onePerson({ entries: [], more: false }, reading)).toMatchObject({
      reason: 'user_not_found',
    });
    expect(onePerson({ entries: [ada, ada], more: false }, reading)).toMatchObject({
      reason: 'user_ambiguous',
    });
    expect(one(ada, true)).toMatchObject({ reason: 'user_ambiguous' });
    for (const dn of ['', 'uid=ada,ou=robots,dc=acme,dc=test', 'nonsense']) {
      expect(one(entry({}, dn))).toMatchObject({ reason: 'dn_outside_base' });
    }
  });

  test('I1 the subject is the entryUUID, else the objectGUID as Windows writes it, else the DN', () => {
    const guid = Buffer.from('33221100554477668899aabbccddeeff', 'hex');
    const uuid = 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11';
    expect(read({ entryuuid: [uuid], objectguid: [guid] })).toMatchObject({
      issuer: 'entryUUID',
      subject: uuid.toLowerCase(),
    });
    expect(read({ objectguid: [guid] })).toMatchObject({
      issuer: 'objectGUID',
      subject: '00112233-4455-6677-8899-aabbccddeeff',
    });
    expect(read({ objectguid: ['short'] })).toMatchObject({
      issuer: 'dn',
      subject: 'uid=ada,ou=people,dc=acme,dc=test',
    });
  });

  test('the DN is kept exactly as received', () => {
    expect(read({})?.dn).toBe('uid=Ada,ou=People,dc=acme,dc=test');
  });

  test('the name joins the first given name and the first family name, if present', () => {
    expect(read({ givenname: ['Ada', 'Augusta'], sn: ['Byron'] })?.name).toBe('Ada Byron');
    expect(read({ givenname: ['Ada'] })?.name).toBe('Ada');
    expect(read({ sn: ['Byron'] })?.name).toBe('Byron');
    expect(read({ sn: ['x\u202e'] })?.name).toBeNull();
    expect(read({ sn: [Buffer.from([0xff])] })?.name).toBeNull();
  });

  test('L6 addresses are canonical, in order, without invalid ones', () => {
    expect(read({ mail: ['none', 'Ada@ACME.test', 'x@y.test'] })?.emails).toEqual([
      'ada@acme.test',
      'x@y.test',
    ]);
  });

  test('partial or too many groups count as unknown', () => {
    expect(read({ memberof: ['cn=a,dc=x'] })?.groups).toEqual(['cn=a,dc=x']);
    expect(read({})?.groups).toEqual([]);
    expect(read({ 'memberof;range=0-1499': ['cn=a,dc=x'], memberof: [] })?.groups).toBeNull();
    expect(
      read({ memberof: Array.from({ length: 1001 }, (_, at) => `cn=${at},dc=x`) })?.groups,
    ).toBeNull();
  });
});

test('groups match by DN or common name, in any letter case and spelling', () => {
  const said = ['CN=Dev Ops, OU=Groups,DC=acme,DC=test', 'staff'];
  const held = (...mapped: string[]) => groupsHeld(mapped, said, 'ou=people,dc=acme,dc=test');
  expect(held('cn=dev ops,ou=groups,dc=acme,dc=test', 'DEV  OPS', 'Staff')).toHaveLength(3);
  expect(
    held('cn=dev ops,ou=others,dc=acme,dc=test', 'cn=dev ops', 'ou=groups', 'dev', ''),
  ).toEqual([]);
});

test('I7 a common name stands for a group in the domain of the search base only', () => {
  const held = (searchBase: string, ...said: string[]) =>
    groupsHeld(['Admins', 'cn=admins,dc=other,dc=test'], said, searchBase);
  const inside = 'CN=Admins,OU=Anywhere,DC=acme,DC=test';
  expect(held('OU=People,dc=ACME,dc=test', inside)).toEqual(['Admins']);
  expect(held('dc=acme,dc=test', inside)).toEqual(['Admins']);
  expect(held('dc=other,dc=test', inside)).toEqual([]);
  expect(held('ou=people,dc=acme,dc=test', 'cn=admins,dc=other,dc=test')).toEqual([
    'cn=admins,dc=other,dc=test',
  ]);
  expect(held('ou=people,o=acme', 'cn=admins,ou=groups,o=acme')).toEqual(['Admins']);
  expect(held('ou=people,o=acme', 'cn=admins,o=other')).toEqual([]);
  expect(held('ou=people,o=acme', 'admins')).toEqual(['Admins']);
});

test.each([
  ['ada', 'ADA'],
  ['ada', ' ada '],
  ['ada  byron', 'Ada Byron'],
  ['jürgen', 'JU\u0308RGEN'],
  ['straße', 'STRASSE'],
  ['ada', '\uff21\uff24\uff21'],
  ['ada', 'a\u00adda\u200b'],
])('L8 %j and %j share one count of attempts', (one, other) => {
  expect(canonicalUser(one)).toBe(canonicalUser(other));
});

describe('L2 L3 input of the sign-in and of a connection', () => {
  const password = 'x';
  test.each([
    [{ username: 'ada', password: '' }],
    [{ username: 'ada' }],
    [{ username: 'ada', password: null }],
    [{ username: 'ada', password: ['x'] }],
    [{ username: 'ada', password: 'a\0b' }],
    [{ username: 'ada', password: 'ü'.repeat(513) }],
    [{ username: '', password }],
    [{ username: '  ', password }],
    [{ username: 'a\nb', password }],
    [{ username: 'a\0', password }],
    [{ username: 'a'.repeat(257), password }],
    [{ username: 'ada', password, more: 1 }],
  ])('L2 L3 %j is refused', (given) => {
    expect(signInByLdapInput.safeParse(given).success).toBe(false);
  });

  const whole = {
    org: 'acme',
    uri: 'LDAPS://LDAP.Acme.test/',
    bindDn: 'cn=idctl,dc=acme,dc=test',
    searchBase: 'dc=acme,dc=test',
    searchFilter: '(uid={username})',
    emailAttribute: 'mail',
  };
  test('§2.5 a connection has defaults', () => {
    expect(saveLdapInput.parse(whole)).toEqual({
      ...whole,
      uri: 'ldaps://ldap.acme.test',
      tls: true,
      caCertificate: null,
      givenNameAttribute: 'givenName',
      familyNameAttribute: 'sn',
      groupsAttribute: null,
      enabled: false,
    });
  });

  test.each([
    ['uri', 'https://ldap.acme.test'],
    ['uri', 'ldaps://ldap.acme.test/dc=acme'],
    ['uri', 'ldaps://user@ldap.acme.test'],
    ['uri', 'ldaps://ldap.acme.test:99999'],
    ['uri', 'ldapi://%2fvar'],
    ['bindDn', 'EXTERNAL'],
    ['bindDn', ''],
    ['bindPassword', 'a\0b'],
    ['searchBase', 'acme'],
    ['searchBase', ''],
    ['searchFilter', '(uid=ada)'],
    ['emailAttribute', 'ma il'],
    ['emailAttribute', 'dn'],
    ['caCertificate', 'not a certificate'],
    ['caCertificate', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----'],
  ])('a connection with the %s %j is refused', (field, value) => {
    expect(saveLdapInput.safeParse({ ...whole, [field]: value }).success).toBe(false);
  });
});
