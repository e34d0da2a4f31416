import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { projectRoles } from '../../src/services/foundation/project-roles.ts';
import {
  type Current,
  type Fate,
  type Mapping,
  planMemberships,
} from '../../src/services/provisioning/mappings/plan.ts';
import { readGroups } from '../../src/services/tenancy/sso/groups.ts';

const roles = projectRoles.map(({ role }) => role);
const role = fc.constantFrom(...roles);
const group = fc.constantFrom('a', 'A', 'a b', 'a,b', 'ä', '');
const projectId = fc.constantFrom('p1', 'p2', 'p3', 'p4');
const mappings = fc
  .array(fc.record({ group, projectId, role }), { maxLength: 12 })
  .map((rows): Mapping[] => rows.map((row, at) => ({ id: `m${at}`, ...row })));
const current = fc
  .uniqueArray(fc.record({ projectId, role, synced: fc.boolean() }), {
    selector: (one) => one.projectId,
  })
  .map((rows): Current[] => rows.map((row) => ({ ...row, because: null, fate: 'stays' })));

const fateWith = (autoRemove: boolean): Fate => (autoRemove ? 'ends' : 'stays');
const claimed = (groups: string[]) =>
  groups.map((one) => ({ group: one, source: 'claim' as const }));

/** The reconcile rules of the specification, step by step. */
function reference(groups: string[], all: Mapping[], there: Current[], autoRemove: boolean) {
  const after = new Map<string, { role: string; synced: boolean }>();
  for (const { projectId: id, role: is, synced } of there) after.set(id, { role: is, synced });
  for (const id of ['p1', 'p2', 'p3', 'p4']) {
    const calledFor = all
      .filter((one) => one.projectId === id && groups.includes(one.group))
      .map((one) => one.role);
    const highest = [...roles].reverse().find((candidate) => calledFor.includes(candidate));
    const now = after.get(id);
    if (highest !== undefined && now === undefined) after.set(id, { role: highest, synced: true });
    if (highest !== undefined && now?.synced) after.set(id, { role: highest, synced: true });
    if (highest === undefined && now?.synced && autoRemove) after.delete(id);
  }
  return after;
}

test('§3.3 §4.1 the plan follows the reconcile rules, for any groups, mappings and memberships', () => {
  fc.assert(
    fc.property(
      fc.array(group),
      mappings,
      current,
      fc.boolean(),
      (groups, all, there, autoRemove) => {
        const fated = there.map((one) => ({ ...one, fate: fateWith(autoRemove) }));
        const plan = planMemberships(claimed(groups), all, fated);
        const after = new Map(
          there.map(({ projectId: id, role: is, synced }) => [id, { role: is, synced }]),
        );
        for (const add of plan.adds) {
          expect(after.has(add.projectId)).toBe(false);
          after.set(add.projectId, { role: add.role, synced: true });
        }
        for (const change of plan.changes) {
          expect(after.get(change.projectId)).toEqual({ role: change.from, synced: true });
          expect(change.role).not.toBe(change.from);
          after.set(change.projectId, { role: change.role, synced: true });
        }
        for (const remove of plan.removes) {
          expect(after.get(remove.projectId)).toEqual({ role: remove.role, synced: true });
          after.delete(remove.projectId);
        }
        expect(after).toEqual(reference(groups, all, there, autoRemove));
        for (const entry of [...plan.adds, ...plan.changes]) {
          const reason = all.find(({ id }) => id === entry.because?.mappingId);
          expect(reason).toMatchObject({
            group: entry.because?.group,
            projectId: entry.projectId,
            role: entry.role,
          });
          expect(groups).toContain(reason?.group);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test('§4.1 after a plan is carried out, the next plan is empty', () => {
  fc.assert(
    fc.property(fc.array(group), mappings, (groups, all) => {
      const { adds } = planMemberships(claimed(groups), all, []);
      const there = adds.map(({ projectId: id, role: is, because }) => ({
        projectId: id,
        role: is,
        synced: true,
        because,
        fate: 'ends' as const,
      }));
      const none = { adds: [], changes: [], removes: [], moves: [] };
      expect(planMemberships(claimed(groups), all, there)).toEqual(none);
    }),
  );
});

describe('I7 the groups claim', () => {
  const unknown = (why: string) => ({ known: false, why });
  const known = (...groups: string[]) => ({ known: true, groups });
  test.each([
    ['absent', {}, unknown('absent')],
    ['null', { groups: null }, unknown('absent')],
    ['empty text', { groups: '' }, known()],
    ['one string', { groups: 'a' }, known('a')],
    ['an array', { groups: ['a', 'A ', 'a,b'] }, known('a', 'A ', 'a,b')],
    ['an empty array', { groups: [] }, known()],
    ['one wrong element', { groups: ['a', 5] }, unknown('malformed')],
    ['an empty element', { groups: ['a', ''] }, unknown('malformed')],
    ['an object', { groups: {} }, unknown('malformed')],
    ['a number', { groups: 5 }, unknown('malformed')],
    ['true', { groups: true }, unknown('malformed')],
    ['1000 entries', { groups: Array(1000).fill('g') }, known(...Array(1000).fill('g'))],
    ['1001 entries', { groups: Array(1001).fill('g') }, unknown('too_many')],
    ['100k entries', { groups: Array(100_000).fill('g') }, unknown('too_many')],
    ['256 characters', { groups: ['💥'.repeat(256)] }, known('💥'.repeat(256))],
    ['257 characters', { groups: ['x'.repeat(257)] }, unknown('malformed')],
    ['_claim_names', { _claim_names: { groups: 'src1' } }, unknown('elsewhere')],
    [
      '_claim_names of another claim',
      { groups: ['a'], _claim_names: { other: 'src1' } },
      known('a'),
    ],
  ])('I7 a claim is read by its form: %s', (_, userinfo, read) => {
    expect(
      readGroups({ userinfo, idToken: {} }, { groupsClaim: 'groups', absentGroups: 'unknown' }),
    ).toEqual(read);
  });

  const read = (userinfo: object, idToken: object, groupsClaim: string) =>
    readGroups(
      { userinfo: { ...userinfo }, idToken: { ...idToken } },
      { groupsClaim, absentGroups: 'none' },
    );

  test('I7 an absent claim means no groups if the connection says so', () => {
    expect(read({}, {}, 'groups')).toEqual(known());
    expect(read({ groups: [5] }, {}, 'groups')).toEqual(unknown('malformed'));
  });

  test('I7 userinfo comes first, then the ID token if userinfo has no groups', () => {
    expect(read({ groups: ['u'] }, { groups: ['t'] }, 'groups')).toEqual(known('u'));
    expect(read({}, { groups: ['t'] }, 'groups')).toEqual(known('t'));
    expect(read({ groups: [] }, { groups: ['t'] }, 'groups')).toEqual(known());
  });

  test('interface page: a claim name is taken literally first, then as a dotted path', () => {
    const nested = { realm_access: { roles: ['r'] } };
    expect(read(nested, {}, 'realm_access.roles')).toEqual(known('r'));
    expect(
      read({ ...nested, 'realm_access.roles': ['literal'] }, {}, 'realm_access.roles'),
    ).toEqual(known('literal'));
    const url = 'https://acme.test/claims/groups';
    expect(read({ [url]: ['u'] }, {}, url)).toEqual(known('u'));
    expect(read({}, {}, '__proto__.constructor')).toEqual(known());
    expect(read({}, {}, 'constructor')).toEqual(known());
  });
});

test('I7 while the claim is unknown, a SCIM group raises a role that the claim gave, and does not lower it', () => {
  const byClaim = { group: 'ops', mappingId: 'm1', by: 'sso' };
  const pushed = [{ group: 'staff', source: 'scim' as const }];
  const planned = (held: 'viewer' | 'admin') => {
    const current = { projectId: 'p', role: held, synced: true, because: byClaim };
    const mapping = { id: 'm2', group: 'staff', projectId: 'p', role: 'member' as const };
    return planMemberships(pushed, [mapping], [{ ...current, fate: 'unknown' }]);
  };
  expect(planned('admin')).toEqual({ adds: [], changes: [], removes: [], moves: [] });
  expect(planned('viewer').changes).toMatchObject([{ from: 'viewer', role: 'member' }]);
});

test('the groups of a person are read once, however many projects are mapped', () => {
  let reads = 0;
  const groups = [{ group: 'dev', source: 'scim' as const }];
  const all = Array.from({ length: 50 }, (_, at) => {
    return { id: `m${at}`, group: 'dev', projectId: `p${at}`, role: 'member' as const };
  });
  const counted = new Proxy(groups, {
    get: (list, key) => {
      if (key === Symbol.iterator) reads += 1;
      return Reflect.get(list, key);
    },
  });
  expect(planMemberships(counted, all, []).adds).toHaveLength(50);
  expect(reads).toBe(1);
});
