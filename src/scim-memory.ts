/** A record's place in the order of the list. */
export interface ListPlace {
  created_at: string | Date;
  id: string;
}

/** What is remembered of an organization's list. */
export interface ListPlaces {
  /** The number of shifts at which it was true. */
  shifts: number;
  /** The last of every `step` records. */
  at: readonly ListPlace[];
}

/** A request of a SCIM client, as it is kept for whoever sets the client up. */
export interface Noted {
  organizationId: string;
  at: Date;
  method: string;
  path: string;
  status: number;
  /** Why it was refused; null when it was not. */
  reason: string | null;
}

/** What one process keeps of SCIM between requests; nothing in it is missed when it is lost. */
export interface ScimMemory {
  /** When the token of each organization was last used, until it is written down (security P13). */
  tokenUses: Map<string, Date>;
  /** What clients asked last, until it is written down. */
  requests: Noted[];
  /** As `requests`, of those without a right token. */
  rejected: Noted[];
  /** Places in the list of each organization, so that a page deep inside it is found without counting to it. */
  places: Map<string, ListPlaces>;
  /** Some ids of accounts as they were then, like which the ids of strangers' accounts are made (security I4). */
  accountIds: { ids: string[]; at: Date };
}

/** The memory of a process that begins. */
export function createScimMemory(): ScimMemory {
  return {
    tokenUses: new Map(),
    requests: [],
    rejected: [],
    places: new Map(),
    accountIds: { ids: [], at: new Date(0) },
  };
}
