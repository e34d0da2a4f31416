import type { Proof } from '../../../outbound/outbound.ts';

// A person's groups as a provider sends them (security I7). Unknown groups do not change roles.

const maxGroups = 1000;
const longestGroup = 256;

type Claims = Record<string, unknown>;

/** The received groups, or the reason why they are unknown. */
export type Groups =
  | { known: true; groups: string[] }
  | { known: false; why: 'absent' | 'malformed' | 'too_many' | 'elsewhere' };

/**
 * Reads the claim from userinfo, else from the ID token. If it is absent, `absentGroups` decides.
 */
export function readGroups(
  proof: Pick<Proof, 'userinfo' | 'idToken'>,
  connection: { groupsClaim: string; absentGroups: 'unknown' | 'none' },
): Groups {
  const { groupsClaim } = connection;
  if ([proof.userinfo, proof.idToken].some((claims) => isElsewhere(claims, groupsClaim))) {
    return { known: false, why: 'elsewhere' };
  }
  const claim = claimIn(proof.userinfo, groupsClaim) ?? claimIn(proof.idToken, groupsClaim);
  return claim === null
    ? takeAbsent({ known: false, why: 'absent' }, connection)
    : readClaim(claim);
}

/** The groups, with an absent claim read as the connection's `absentGroups` says. */
export function takeAbsent(
  groups: Groups,
  { absentGroups }: { absentGroups: 'unknown' | 'none' },
): Groups {
  const isNone = absentGroups === 'none' && !groups.known && groups.why === 'absent';
  return isNone ? { known: true, groups: [] } : groups;
}

/** Reads a claim that is present: an array of names, or one name. */
export function readClaim(claim: unknown): Groups {
  if (claim === '') return { known: true, groups: [] };
  const groups = Array.isArray(claim) ? claim : [claim];
  if (groups.length > maxGroups) return { known: false, why: 'too_many' };
  return groups.every(isGroup) ? { known: true, groups } : { known: false, why: 'malformed' };
}

function isGroup(one: unknown): one is string {
  return typeof one === 'string' && one !== '' && [...one].length <= longestGroup;
}

/** The claim of this name, else the claim at this dotted path, such as `realm_access.roles`. */
function claimIn(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name] ?? null;
  let at: unknown = claims;
  for (const key of name.split('.')) {
    if (!isObject(at) || !Object.hasOwn(at, key)) return null;
    at = at[key];
  }
  return at ?? null;
}

/** Whether the claim is a distributed or aggregated claim (OpenID Connect Core §5.6.2). */
function isElsewhere(claims: Claims, name: string): boolean {
  const names = claims['_claim_names'];
  return isObject(names) && Object.hasOwn(names, name);
}

function isObject(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
