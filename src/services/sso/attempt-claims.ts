import type { Proof } from '../../outbound/outbound.ts';
import { canonicalEmail } from '../domains/canonical.ts';
import { readGroups } from '../mappings/groups.ts';

/** What is kept of a provider's claims: the address and the groups, and nothing else that was said of the person. */
export interface KeptClaims {
  /** Canonical; null when there was none. */
  email: string | null;
  /** As received; null when there was no claim, or it could not be read. */
  groups: string[] | null;
  /** There was a groups claim, but it could not be read (security I7). */
  groupsMalformed: boolean;
}

/** Reduces what the provider said of a person to what an attempt keeps. */
export function claimsToKeep(proof: Pick<Proof, 'userinfo' | 'idToken'>, groupsClaim: string): KeptClaims {
  const { email } = proof.userinfo;
  const read = readGroups(proof, { groupsClaim, absentGroups: 'unknown' });
  return {
    email: typeof email === 'string' ? canonicalEmail(email) : null,
    groups: read.known ? read.groups : null,
    groupsMalformed: !read.known && read.why !== 'absent',
  };
}
