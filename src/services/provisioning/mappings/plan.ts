import { type OrgRole, type Role, roles } from '../../../database/models/membership.ts';
import type { ProjectRole } from '../../../database/models/project.ts';
import { outranks } from '../../foundation/project-roles.ts';
import { canonicalDn, commonNameOf, foldValue, isUnder, realmOf } from '../../tenancy/ldap/dn.ts';

// Computes roles without side effects. The preview, the sign-in and the SCIM push share these
// rules, so the preview is accurate.

/** A group mapped to a role in a project (spec §2.3). */
export interface Mapping {
  id: string;
  group: string;
  projectId: string;
  role: ProjectRole;
}

/** A group mapped to a role in the organization. */
export interface OrgMapping {
  id: string;
  group: string;
  orgRole: OrgRole;
}

/** A person's group, as a mapping names it, and its source. */
export interface HeldGroup {
  group: string;
  source: 'claim' | 'scim';
  /** The connection of a claim. */
  by?: string;
}

/**
 * The fate of a synced role that no group gives any more. `unknown`: the claim is not known, so the
 * role is neither lowered nor removed.
 */
export type Fate = 'ends' | 'stays' | 'unknown';

/** A person's current membership in a project. */
export interface Current {
  projectId: string;
  role: ProjectRole;
  synced: boolean;
  /** The cause of a synced membership. */
  because: Because | null;
  fate: Fate;
}

/** A person's current role in the organization. */
export interface CurrentOrgRole extends Pick<Current, 'synced' | 'because' | 'fate'> {
  role: Role;
}

/** The group and the mapping that give a role. */
export interface Because {
  group: string;
  mappingId: string;
  /** Absent for a claim. Then `by` is its connection. */
  source?: 'scim';
  by?: string;
}

interface Entry {
  projectId: string;
  role: ProjectRole;
  because: Because | null;
}

/** The changes to one person's memberships. */
export interface Plan {
  adds: Entry[];
  changes: (Entry & { from: ProjectRole })[];
  removes: Entry[];
  /** Memberships that keep their role, but now come from another mapping, source or connection. */
  moves: Entry[];
}

/**
 * Compares the roles that the person's groups give with the current memberships (spec §3.3, §4.1).
 * The highest role wins, and manual memberships never change. If no group gives a synced membership
 * any more, its `fate` decides.
 */
export function planMemberships(
  groups: readonly HeldGroup[],
  mappings: readonly Mapping[],
  current: readonly Current[],
): Plan {
  const desired = new Map<string, Entry>();
  const held = heldByName(groups);
  const mine = mappings.filter(({ group }) => held.has(group));
  for (const [projectId, some] of Map.groupBy(mine, ({ projectId }) => projectId)) {
    const best = highest(held, some, ({ role }) => role, outranks);
    if (best !== null) desired.set(projectId, { projectId, ...best });
  }
  const there = new Map(current.map((membership) => [membership.projectId, membership]));
  const plan: Plan = { adds: [], changes: [], removes: [], moves: [] };
  for (const entry of desired.values()) {
    const membership = there.get(entry.projectId);
    if (membership === undefined) plan.adds.push(entry);
    else if (!membership.synced) continue;
    else if (membership.role === entry.role) {
      const isMoved = membership.fate !== 'unknown' && !isSame(membership.because, entry.because);
      if (isMoved) plan.moves.push(entry);
    } else if (membership.fate !== 'unknown' || outranks(entry.role, membership.role)) {
      plan.changes.push({ ...entry, from: membership.role });
    }
  }
  for (const { projectId, role, synced, because, fate } of current) {
    if (synced && fate === 'ends' && !desired.has(projectId))
      plan.removes.push({ projectId, role, because });
  }
  return plan;
}

/** A change of a role in the organization. `from` equals `to` if only the cause changes. */
export interface OrgRoleChange {
  from: Role;
  to: OrgRole;
  because: Because | null;
}

/**
 * Compares the organization role that the groups give with the current one. Manual roles and owners
 * never change. If no mapping matches, a role with the fate `ends` becomes member.
 */
export function planOrgRole(
  groups: readonly HeldGroup[],
  mappings: readonly OrgMapping[],
  { role: from, synced, because, fate }: CurrentOrgRole,
): OrgRoleChange | null {
  if (!synced || from === 'owner') return null;
  const best = highest(heldByName(groups), mappings, ({ orgRole }) => orgRole, outranksInOrg);
  const to = best?.role ?? 'member';
  if (from === to) {
    const cause = best?.because ?? null;
    return fate === 'unknown' || isSame(because, cause) ? null : { from, to, because: cause };
  }
  const isLower = outranksInOrg(from, to);
  if (isLower && (fate === 'unknown' || (best === null && fate === 'stays'))) return null;
  return { from, to, because: best?.because ?? null };
}

function outranksInOrg(one: Role, other: Role): boolean {
  return roles.indexOf(one) > roles.indexOf(other);
}

/** The groups by name. A SCIM group takes precedence over a claimed group of the same name. */
function heldByName(groups: readonly HeldGroup[]): Map<string, HeldGroup> {
  const held = new Map<string, HeldGroup>();
  for (const one of groups) {
    const other = held.get(one.group);
    if (other === undefined || (one.source === 'scim' && other.source !== 'scim'))
      held.set(one.group, one);
  }
  return held;
}

/**
 * The highest role that the groups give, and its cause. Among equal roles, a role from a SCIM group
 * wins, because it ends with the group; then the first role in the list.
 */
function highest<M extends { id: string; group: string }, R>(
  held: ReadonlyMap<string, HeldGroup>,
  mappings: readonly M[],
  roleOf: (mapping: M) => R,
  isHigher: (one: R, other: R) => boolean,
): { role: R; because: Because } | null {
  let best: { role: R; because: Because } | null = null;
  for (const mapping of mappings) {
    const { source, by } = held.get(mapping.group) ?? {};
    if (source === undefined) continue;
    const role = roleOf(mapping);
    const beats =
      best === null ||
      isHigher(role, best.role) ||
      (role === best.role && source === 'scim' && best.because.source !== 'scim');
    if (!beats) continue;
    const because = { group: mapping.group, mappingId: mapping.id };
    const through = source === 'scim' ? { source } : by === undefined ? {} : { by };
    best = { role, because: { ...because, ...through } };
  }
  return best;
}

function isSame(one: Because | null, other: Because | null): boolean {
  return (
    one?.mappingId === other?.mappingId && one?.source === other?.source && one?.by === other?.by
  );
}

/** A mapped name as directories compare it: a DN or a common name, in lower case. */
export function spellInDirectory(group: string): string {
  const dn = canonicalDn(group);
  return dn === null ? `cn ${foldValue(group)}` : `dn ${dn.join(',')}`;
}

/**
 * The mapped groups that a directory lists for a person, by DN or by common name. A common name
 * matches only in the domain of the search base. Another domain of the forest has its own admins,
 * and may have a group of that name.
 */
export function groupsHeld(
  mapped: Iterable<string>,
  said: readonly string[],
  searchBase: string,
  spell = spellInDirectory,
): string[] {
  const realm = realmOf(canonicalDn(searchBase) ?? []);
  const held = new Set<string>();
  for (const group of said) {
    const dn = canonicalDn(group);
    if (dn !== null) held.add(`dn ${dn.join(',')}`);
    const name = dn === null ? foldValue(group) : isUnder(dn, realm) ? commonNameOf(dn) : null;
    if (name !== null) held.add(`cn ${name}`);
  }
  return [...mapped].filter((group) => held.has(spell(group)));
}
