import type { Projection } from '../view.ts';

// The input of the SCIM operations. The table of attributes reads their bodies, not a schema (X6).

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
