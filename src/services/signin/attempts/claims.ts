import type { Said } from '../methods/sso/claims.ts';

/** The claims of a person that an attempt keeps: the address and the groups. */
export interface KeptClaims {
  /** Canonical; null if the provider gave none. */
  email: string | null;
  /** As received; null if there was no claim, or an unreadable one. */
  groups: string[] | null;
  /** The groups claim was there, but unreadable (security I7). */
  groupsMalformed: boolean;
}

/** Reduces the provider's claims to those that an attempt keeps. */
export function claimsToKeep({ email, groups }: Pick<Said, 'email' | 'groups'>): KeptClaims {
  return {
    email: 'address' in email ? email.address : null,
    groups: groups.known ? groups.groups : null,
    groupsMalformed: !groups.known && groups.why !== 'absent',
  };
}
