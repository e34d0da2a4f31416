import type { Blocked } from './changes.ts';
import type { Document } from './schema.ts';
import type { State } from './state.ts';

/** The account of an address that is not a member, or why it cannot be added. */
export type Person = { accountId: string } | Pick<Blocked, 'code' | 'message' | 'hint'>;

/** Facts beyond the organization's own state. */
export interface Outside {
  /** For addresses in the document that the state does not have. */
  people: Map<string, Person>;
  /** Domains that other organizations have verified. */
  taken: Set<string>;
  /** Why origins of clients that no client of the organization has cannot be registered. */
  origins: Map<string, Pick<Blocked, 'code' | 'message' | 'hint'>>;
  /** `trust.domains: off`: a connection needs no verified domain. */
  trusting: boolean;
  /** The accounts that sign in by each connection. */
  linked: Record<'sso' | 'ldap', string[]>;
  /** The groups that each person had at the last sign-in through a connection. */
  groups: Map<string, string[] | null>;
  /** The names of the SCIM groups of each person. */
  pushed: Map<string, string[]>;
}

/** All that decides a plan. */
export interface PlanInput {
  state: State;
  document: Document;
  prune: boolean;
  /** Whether a given secret is the stored one; null if none is given. */
  secrets: Record<'sso' | 'ldap', 'same' | 'different' | null>;
  outside: Outside;
}
