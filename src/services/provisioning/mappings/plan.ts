import type { ProjectRole } from '../../../database/models/project.ts';
import { outranks } from '../../foundation/project-roles.ts';
import { canonicalDn, commonNameOf, foldValue, isUnder, realmOf } from '../../tenancy/ldap/dn.ts';

// Pure, and shared by the preview and the sign-in, so that the preview is accurate.

/** A group mapped to a role in a project (spec §2.3). */
export interface Mapping {
  id: string;
  group: string;
  projectId: string;
  role: ProjectRole;
}

/** A person's current membership in a project. */
export interface Current {
  projectId: string;
  role: ProjectRole;
  synced: boolean;
  /** The cause of a synced membership. */
  because: Because | null;
}

/** The group and the mapping that give a role. */
export interface Because {
  group: string;
  mappingId: string;
}

interface Entry {
  projectId: string;
  role: ProjectRole;
  because: Because | null;
}

/** The changes that a reconcile makes to one person's memberships. */
export interface Plan {
  adds: Entry[];
  changes: (Entry & { from: ProjectRole })[];
  removes: Entry[];
}

/**
 * Compares the roles that the person's groups give with the current memberships (spec §3.3, §4.1).
 * The highest role wins, manual memberships are never changed, and synced ones are removed only
 * with `autoRemove`.
 */
export function planMemberships(
  groups: readonly string[],
  mappings: readonly Mapping[],
  current: readonly Current[],
  options: { autoRemove: boolean },
): Plan {
  const desired = highestRoles(groups, mappings);
  const there = new Map(current.map((membership) => [membership.projectId, membership]));
  const plan: Plan = { adds: [], changes: [], removes: [] };
  for (const entry of desired.values()) {
    const membership = there.get(entry.projectId);
    if (membership === undefined) plan.adds.push(entry);
    else if (membership.synced && membership.role !== entry.role) {
      plan.changes.push({ ...entry, from: membership.role });
    }
  }
  for (const { projectId, role, synced, because } of options.autoRemove ? current : []) {
    if (synced && !desired.has(projectId)) plan.removes.push({ projectId, role, because });
  }
  return plan;
}

/** One entry per project. Among mappings with the same role, the first in the list is the cause. */
function highestRoles(groups: readonly string[], mappings: readonly Mapping[]): Map<string, Entry> {
  const held = new Set(groups);
  const desired = new Map<string, Entry>();
  for (const { id, group, projectId, role } of mappings) {
    if (!held.has(group)) continue;
    const best = desired.get(projectId);
    if (best !== undefined && !outranks(role, best.role)) continue;
    desired.set(projectId, { projectId, role, because: { group, mappingId: id } });
  }
  return desired;
}

/**
 * The mapped groups that a directory says a person is in: by DN, or by common name. Case and
 * spelling are ignored, because directories compare names that way. A common name means a group in
 * the domain of the search base. Another domain of the same forest has its own admins, and may have
 * a group of that name.
 */
export function groupsHeld(mapped: readonly string[], said: readonly string[], searchBase: string) {
  const realm = realmOf(canonicalDn(searchBase) ?? []);
  const dns = new Set<string>();
  const names = new Set<string>();
  for (const group of said) {
    const dn = canonicalDn(group);
    if (dn !== null) dns.add(dn.join(','));
    const name = dn === null ? foldValue(group) : isUnder(dn, realm) ? commonNameOf(dn) : null;
    if (name !== null) names.add(name);
  }
  return mapped.filter((group) => {
    const dn = canonicalDn(group);
    return dn === null ? names.has(foldValue(group)) : dns.has(dn.join(','));
  });
}
