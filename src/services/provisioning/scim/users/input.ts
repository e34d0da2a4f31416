import type { Projection } from '../view.ts';

// What the SCIM door hands to the operations: its bodies are read by the table of attributes, not by a schema (X6).

/** A request about the Users of an organization, named by its id. */
export interface AtUsers extends Projection {
  org: string;
}

/** A request about one User. */
export interface AtUser extends AtUsers {
  id: string;
  /** The `If-Match` of the request, if it has one. */
  ifMatch?: string | undefined;
}
