import type { Said } from '../methods/sso/claims.ts';

/** What an attempt keeps of a person: the address and the groups, and nothing else that was said of them. */
export interface KeptClaims {
  /** Canonical; null when there was none. */
  email: string | null;
  /** As received; null when there was no claim, or it could not be read. */
  groups: string[] | null;
  /** There was a groups claim, but it could not be read (security I7). */
  groupsMalformed: boolean;
}

/** Reduces what the provider said of a person to what an attempt keeps. */
export function claimsToKeep({ email, groups }: Pick<Said, 'email' | 'groups'>): KeptClaims {
  return {
    email: 'address' in email ? email.address : null,
    groups: groups.known ? groups.groups : null,
    groupsMalformed: !groups.known && groups.why !== 'absent',
  };
}
