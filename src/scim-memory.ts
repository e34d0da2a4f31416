/** A record's position in the list's order. */
export interface ListPlace {
  created_at: string | Date;
  id: string;
}

/** The remembered positions in an organization's list. */
export interface ListPlaces {
  /**
   * The organization's count in `scim_shifts` when these positions were read. If the count changes,
   * the positions are invalid.
   */
  shifts: number;
  /** The last record of each group of 500, in the order of the list. */
  at: readonly ListPlace[];
}

/** A request of a SCIM client, kept for the admin who configures the client. */
export interface Noted {
  organizationId: string;
  at: Date;
  method: string;
  path: string;
  status: number;
  /** The reason for a refusal; null after a success. */
  reason: string | null;
}

/** A request in memory. Its id gives its place among the requests. */
export type KeptRequest = Noted & { id: string };

/** A process's SCIM data between requests. Losing it does no harm. */
export interface ScimMemory {
  /** The last use of each organization's token, until a job writes it (security P13). */
  tokenUses: Map<string, Date>;
  /** The latest requests with a valid token, until a job writes them. */
  requests: KeptRequest[];
  /** Like `requests`, for requests without a valid token. */
  rejected: KeptRequest[];
  /** The organizations whose people a job is planning. */
  planning: Set<string>;
  /**
   * Positions in the list of each organization, so that a late page is found without counting all
   * records before it.
   */
  places: Map<string, ListPlaces>;
  /**
   * A sample of account ids, and when it was taken. If SCIM makes an account at a stranger's
   * address, its id looks like these (security I4).
   */
  accountIds: { ids: string[]; at: Date };
}

/** Creates the empty memory of a process. */
export function createScimMemory(): ScimMemory {
  return {
    tokenUses: new Map(),
    requests: [],
    rejected: [],
    planning: new Set(),
    places: new Map(),
    accountIds: { ids: [], at: new Date(0) },
  };
}
