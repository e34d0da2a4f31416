import type { Places } from './list/places.ts';
import type { Noted } from './log/note.ts';

/** What one process keeps of SCIM between requests; nothing in it is missed when it is lost. */
export interface ScimMemory {
  /** When the token of each organization was last used, until it is written down (security P13). */
  tokenUses: Map<string, Date>;
  /** What clients asked last, until it is written down. */
  requests: Noted[];
  /** As `requests`, of those without a right token. */
  rejected: Noted[];
  /** Places in the list of each organization, so that a page deep inside it is found without counting to it. */
  places: Map<string, Places>;
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
