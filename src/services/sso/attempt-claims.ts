import type { Proof } from '../../outbound/outbound.ts';
import { canonicalEmail } from '../domains/canonical.ts';

const mostGroups = 1000;
const longestGroup = 256;

/** What is kept of a provider's claims: the address and the groups, and nothing else that was said of the person. */
export interface KeptClaims {
  /** Canonical; null when there was none. */
  email: string | null;
  /** As received; null when there were none. */
  groups: string[] | string | null;
  /** There was a groups claim, but of another form or larger than security I7 allows. */
  groupsMalformed: boolean;
}

type Claims = Record<string, unknown>;

/** Reduces what the provider said of a person to what an attempt keeps. */
export function claimsToKeep(proof: Pick<Proof, 'userinfo' | 'idToken'>, groupsClaim: string): KeptClaims {
  const { email } = proof.userinfo;
  const received = claimIn(proof.userinfo, groupsClaim) ?? claimIn(proof.idToken, groupsClaim);
  const groups = received !== null && isBounded(received) ? received : null;
  const elsewhere = isElsewhere(proof.userinfo, groupsClaim) || isElsewhere(proof.idToken, groupsClaim);
  return {
    email: typeof email === 'string' ? canonicalEmail(email) : null,
    groups,
    groupsMalformed: groups === null && (received !== null || elsewhere),
  };
}

/** The claim of this name, else what stands at the name read as a dotted path (interface page, `groupsClaim`). */
function claimIn(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name] ?? null;
  let at: unknown = claims;
  for (const key of name.split('.')) {
    if (!isObject(at) || !Object.hasOwn(at, key)) return null;
    at = at[key];
  }
  return at ?? null;
}

function isBounded(claim: unknown): claim is string[] | string {
  const isGroup = (one: unknown) => typeof one === 'string' && one.length <= longestGroup;
  return isGroup(claim) || (Array.isArray(claim) && claim.length <= mostGroups && claim.every(isGroup));
}

/** OpenID Connect Core §5.6.2: too many groups to send are said to be somewhere else. */
function isElsewhere(claims: Claims, name: string): boolean {
  const names = claims['_claim_names'];
  return isObject(names) && Object.hasOwn(names, name);
}

function isObject(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
