import fc from 'fast-check';
import { expect, test } from 'vitest';
import { projectRoles } from '../../src/services/foundation/project-roles.ts';
import {
  type Because,
  type Fate,
  type HeldGroup,
  planMemberships,
  planOrgRole,
} from '../../src/services/provisioning/mappings/plan.ts';

// Compares the roles after random claims, pushes, mappings and edits with the rule, computed from
// scratch.

const roles = projectRoles.map(({ role }) => role);
const names = ['a', 'b', 'c'];
const projects = ['p1', 'p2'];
const mapping = fc.record({
  group: fc.constantFrom(...names),
  projectId: fc.constantFrom(...projects),
  role: fc.constantFrom(...roles),
});
const orgMapping = fc.record({
  group: fc.constantFrom(...names),
  orgRole: fc.constantFrom('member' as const, 'admin' as const),
});
const step = fc.oneof(
  fc.record({ claim: fc.subarray(names) }),
  // The account was linked again, so the claim is unknown until the next sign-in.
  fc.constant({ claim: null }),
  fc.record({ pushed: fc.subarray(names) }),
  fc.record({ mappings: fc.array(mapping, { maxLength: 6 }) }),
  fc.record({ orgMappings: fc.array(orgMapping, { maxLength: 3 }) }),
  fc.record({ edit: fc.constantFrom(...projects), to: fc.constantFrom(...roles) }),
  fc.record({ orgEdit: fc.constantFrom('member' as const, 'admin' as const, 'owner' as const) }),
  fc.constant({ leaves: true }),
  fc.constant({ returns: true }),
);

type Role = (typeof roles)[number];
type OrgRole = 'member' | 'admin' | 'owner';

interface Held<R> {
  role: R;
  synced: boolean;
  because: Because | null;
}

/** The state after the steps, without memberships. */
interface World {
  claim: string[] | null;
  pushed: string[];
  mappings: { id: string; group: string; projectId: string; role: Role }[];
  orgMappings: { id: string; group: string; orgRole: 'member' | 'admin' }[];
  member: boolean;
}

const newcomer = (): Held<OrgRole> => ({ role: 'member', synced: true, because: null });

/**
 * The role by spec §3.3: a manual role stays. Otherwise it is the highest role that a claim or SCIM
 * gives, or the held role if nothing may remove it.
 */
function expected<R>(
  given: { role: R; from: 'claim' | 'scim' }[],
  order: readonly R[],
  held: { role: R; manual: boolean; from: 'claim' | 'scim' | null } | undefined,
  { claim, autoRemove }: { claim: string[] | null; autoRemove: boolean },
): typeof held {
  if (held?.manual) return held;
  const best = Math.max(-1, ...given.map(({ role }) => order.indexOf(role)));
  const isUnknown = held?.from === 'claim' && claim === null;
  const top = order[best];
  if (top !== undefined && !(isUnknown && best < order.indexOf(held?.role ?? top))) {
    const from = given.some((one) => one.role === top && one.from === 'scim') ? 'scim' : 'claim';
    return { role: top, manual: false, from: isUnknown && top === held?.role ? 'claim' : from };
  }
  if (held === undefined || held.from === 'scim') return undefined;
  return isUnknown || !autoRemove ? held : undefined;
}

test('§3.3 the memberships equal the rule computed from scratch, for any sequence of claims, pushes, mappings, edits and departures', () => {
  const sequence = fc.array(step, { maxLength: 25 });
  fc.assert(
    fc.property(sequence, fc.boolean(), (steps, autoRemove) => {
      const world: World = { claim: null, pushed: [], mappings: [], orgMappings: [], member: true };
      let held = new Map<string, Held<Role>>();
      let org = newcomer();
      type Known<R> = { role: R; manual: boolean; from: 'claim' | 'scim' | null };
      let oracle = new Map<string, Known<Role>>();
      let orgOracle: Known<OrgRole> | undefined;
      let minted = 0;
      for (const one of steps) {
        if ('claim' in one && world.member) world.claim = one.claim;
        if ('pushed' in one) world.pushed = one.pushed;
        if ('mappings' in one)
          world.mappings = one.mappings.map((row) => ({ id: `m${++minted}`, ...row }));
        if ('orgMappings' in one)
          world.orgMappings = one.orgMappings.map((row) => ({ id: `m${++minted}`, ...row }));
        if ('edit' in one && world.member) {
          held.set(one.edit, { role: one.to, synced: false, because: null });
          oracle.set(one.edit, { role: one.to, manual: true, from: null });
        }
        if ('orgEdit' in one && world.member) {
          org = { role: one.orgEdit, synced: false, because: null };
          orgOracle = { role: one.orgEdit, manual: true, from: null };
        }
        if ('leaves' in one) {
          world.member = false;
          held = new Map();
          oracle = new Map();
          org = newcomer();
          orgOracle = undefined;
        }
        if ('returns' in one) world.member = true;
        if (!world.member) continue;

        const groups: HeldGroup[] = [
          ...(world.claim ?? []).map((group) => ({ group, source: 'claim' as const, by: 'sso' })),
          ...world.pushed.map((group) => ({ group, source: 'scim' as const })),
        ];
        const fate = (because: Because | null): Fate => {
          if (because?.source === 'scim') return 'ends';
          if (world.claim === null) return 'unknown';
          return autoRemove ? 'ends' : 'stays';
        };
        const current = [...held].map(([projectId, row]) => {
          return { projectId, ...row, fate: fate(row.because) };
        });
        const plan = planMemberships(groups, world.mappings, current);
        for (const entry of [...plan.adds, ...plan.changes, ...plan.moves]) {
          const { projectId, role, because } = entry;
          // A mapping of a held group gives exactly this role, and no manual role is replaced.
          const cause = world.mappings.find(({ id }) => id === because?.mappingId);
          expect(cause?.role).toBe(role);
          expect(groups.map(({ group }) => group)).toContain(cause?.group);
          expect(held.get(projectId)?.synced ?? true).toBe(true);
          held.set(projectId, { role, synced: true, because });
        }
        for (const { projectId } of plan.removes) held.delete(projectId);
        const change = planOrgRole(groups, world.orgMappings, { ...org, fate: fate(org.because) });
        if (change !== null) org = { role: change.to, synced: true, because: change.because };

        const from = (group: string) => [
          ...(world.pushed.includes(group) ? ['scim' as const] : []),
          ...(world.claim?.includes(group) ? ['claim' as const] : []),
        ];
        for (const project of projects) {
          const given = world.mappings
            .filter(({ projectId }) => projectId === project)
            .flatMap(({ group, role }) => from(group).map((source) => ({ role, from: source })));
          const after = expected(given, roles, oracle.get(project), { ...world, autoRemove });
          if (after === undefined) oracle.delete(project);
          else oracle.set(project, after);
        }
        const given = world.orgMappings.flatMap(({ group, orgRole }) =>
          from(group).map((source) => ({ role: orgRole as OrgRole, from: source })),
        );
        orgOracle = expected(given, ['member', 'admin', 'owner'], orgOracle, {
          ...world,
          autoRemove,
        });
        const told = [...held].map(([project, { role, synced }]) => [project, role, synced]);
        const ruled = [...oracle].map(([project, { role, manual }]) => [project, role, !manual]);
        expect(told.toSorted()).toEqual(ruled.toSorted());
        expect(org.role).toBe(orgOracle?.role ?? 'member');
      }
    }),
    { numRuns: 3000 },
  );
});
