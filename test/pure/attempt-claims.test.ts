import { describe, expect, test } from 'vitest';
import { claimsToKeep, readProof } from '../../src/services/signin/methods/claims.ts';

/** What is kept when userinfo and ID token say this. */
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

describe('I7 where the groups are', () => {
  test('a claim of that very name comes before a dotted path', () => {
    const claims = { 'realm.roles': ['literal'], realm: { roles: ['path'] } };
    expect(kept(claims, 'realm.roles').groups).toEqual(['literal']);
    expect(kept({ realm: { roles: ['path'] } }, 'realm.roles').groups).toEqual(['path']);
  });

  test.each([{ realm: 'text' }, { realm: null }, { realm: ['roles'] }, {}])(
    'no path through %j',
    (claims) => {
      expect(kept(claims, 'realm.roles')).toMatchObject({ groups: null, groupsMalformed: false });
    },
  );

  test('userinfo comes before the ID token, which is read where userinfo has none', () => {
    expect(kept({ groups: ['userinfo'] }, 'groups', { groups: ['token'] }).groups).toEqual([
      'userinfo',
    ]);
    expect(kept({}, 'groups', { groups: ['token'] }).groups).toEqual(['token']);
    expect(kept({ groups: null }, 'groups', { groups: ['token'] }).groups).toEqual(['token']);
  });

  test('a claim named like what every object has is not there', () => {
    expect(kept({}, 'constructor')).toMatchObject({ groups: null, groupsMalformed: false });
    expect(kept({ a: {} }, 'a.constructor.name')).toMatchObject({
      groups: null,
      groupsMalformed: false,
    });
  });

  test('an overage, which sends the groups somewhere else, is malformed', () => {
    const elsewhere = { _claim_names: { groups: 'src1' }, _claim_sources: {} };
    expect(kept(elsewhere)).toMatchObject({ groups: null, groupsMalformed: true });
    expect(kept({}, 'groups', elsewhere).groupsMalformed).toBe(true);
    expect(kept(elsewhere, 'roles').groupsMalformed).toBe(false);
  });
});

test('the address is canonical, or not kept', () => {
  expect(kept({ email: 'Ada@ACME.test' }).email).toBe('ada@acme.test');
  for (const email of ['nobody', 7, undefined, ['ada@acme.test']])
    expect(kept({ email }).email).toBe(null);
});
