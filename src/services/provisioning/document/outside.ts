import type { ConnectionKindName } from '../../../connection-kinds.ts';
import type { StoredMetadata } from '../../../database/models/sso-connection.ts';
import type { Blocked } from './changes.ts';

/** The account for an address of a non-member, or the reason why it cannot be added. */
export type Person = { accountId: string } | Pick<Blocked, 'code' | 'message' | 'hint'>;

/** Facts from outside the organization's own state. */
export interface Outside {
  /** By address: the people in the document who are not members. */
  people: Map<string, Person>;
  /** By address: why a member cannot become the owner that the document wants. */
  uninvited: Map<string, Pick<Blocked, 'code' | 'message' | 'hint'>>;
  /** The e-mail domain of the document's `sso`, if another organization has verified it. */
  taken: Set<string>;
  /** The metadata that the document's `sso` gives as text; null if it gives none. */
  metadata: StoredMetadata | null;
  /** By origin: why a client cannot get this new origin. */
  origins: Map<string, Pick<Blocked, 'code' | 'message' | 'hint'>>;
  /** Whether `trust.domains` is `off`: connections do not need a verified domain. */
  trusting: boolean;
  /** The accounts linked to each connection. */
  linked: Record<ConnectionKindName, string[]>;
  /** By connection and account: the last known groups of people who lose a mapped role. */
  groups: Map<string, string[] | null>;
  /**
   * By account that loses a mapped role: its SCIM groups that a mapping names, by name or external
   * id.
   */
  pushed: Map<string, string[]>;
}

/** What decides a plan: a section names the parts of the state and the document that it uses. */
export interface Wanted<State, Document> {
  state: State;
  document: Document;
  prune: boolean;
  /** How a secret in the document compares with the stored one; null if the document has none. */
  secrets: Record<ConnectionKindName, 'same' | 'different' | 'withheld' | null>;
  outside: Outside;
}
