import { describe, expect, test } from 'vitest';
import { claimsToKeep } from '../../src/services/signin/attempts.ts';
import { readProof } from '../../src/services/tenancy/sso/claims.ts';

/** The claims that are kept from this userinfo and ID token. */
const kept = (
  userinfo: Record<string, unknown>,
  claim = 'groups',
  idToken: Record<string, unknown> = {},
) =>
  claimsToKeep(
    readProof(
      { issuer: 'https://idp.test', subject: 's', userinfo, idToken, managedBy: null },
      claim,
    ),
  );

describe('I7 the claim that contains the groups', () => {
  test('a claim with the exact name comes before a dotted path', () => {
    const claims = { 'realm.roles': ['literal'], realm: { roles: ['path'] } };
    expect(kept(claims, 'realm.roles').groups).toEqual(['literal']);
    expect(kept({ realm: { roles: ['path'] } }, 'realm.roles').groups).toEqual(['path']);
  });

  test.each([{ realm: 'text' }, { realm: null }, { realm: ['roles'] }, {}])(
    '%j does not contain groups claim',
    (claims) => {
      expect(kept(claims, 'realm.roles')).toMatchObject({ groups: null, groupsMalformed: false });
    },
  );

  test('userinfo comes first; the ID token is read if userinfo has no groups', () => {
    expect(kept({ groups: ['userinfo'] }, 'groups', { groups: ['token'] }).groups).toEqual([
      'userinfo',
    ]);
    expect(kept({}, 'groups', { groups: ['token'] }).groups).toEqual(['token']);
    expect(kept({ groups: null }, 'groups', { groups: ['token'] }).groups).toEqual(['token']);
  });

  test('a claim named like an inherited property is absent', () => {
    expect(kept({}, 'constructor')).toMatchObject({ groups: null, groupsMalformed: false });
    expect(kept({ a: {} }, 'a.constructor.name')).toMatchObject({
      groups: null,
      groupsMalformed: false,
    });
  });

  test('an overage, which refers to another place for the groups, counts as malformed', () => {
    const elsewhere = { _claim_names: { groups: 'src1' }, _claim_sources: {} };
    expect(kept(elsewhere)).toMatchObject({ groups: null, groupsMalformed: true });
    expect(kept({}, 'groups', elsewhere).groupsMalformed).toBe(true);
    expect(kept(elsewhere, 'roles').groupsMalformed).toBe(false);
  });
});

test('an e-mail address is kept in canonical form, and other values are not kept', () => {
  expect(kept({ email: 'Ada@ACME.test' }).email).toBe('ada@acme.test');
  for (const email of ['nobody', 7, undefined, ['ada@acme.test']])
    expect(kept({ email }).email).toBe(null);
});
