import { canonicalDn, commonNameOf, foldValue, isUnder, realmOf } from '../../tenancy/ldap/dn.ts';

/**
 * Of the groups that mappings name, those that a directory says a person is in: by DN, or by common name, in whatever
 * case and spelling, since that is how directories compare them. A common name means a group of the domain that people
 * are searched in: another domain of the same forest has its own admins, and may have a group of that name.
 */
export function groupsHeld(mapped: readonly string[], said: readonly string[], searchBase: string): string[] {
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
