import type { Account } from '../../../database/models/account.ts';
import type { RecordLink } from '../../../database/models/scim-record.ts';

// Records bypass the ORM: clients send hundreds of thousands of such requests in a row.

/** A record as plain data; the model explains each field. */
export interface Entry {
  id: string;
  organizationId: string;
  accountId: string;
  link: RecordLink;
  userName: string;
  active: boolean;
  hidden: boolean;
  resource: string;
  version: number;
  createdAt: Date;
  modifiedAt: Date;
}

/** The fields of an account that provisioning uses. */
export type RecordedPerson = Pick<Account, 'id' | 'email' | 'name'>;

/** A record as plain SQL returns it; SQLite has texts for times and numbers for booleans. */
export interface Row {
  id: string;
  organization_id: string;
  account_id: string;
  link: RecordLink;
  user_name: string;
  active: boolean | number;
  hidden: boolean | number;
  resource: string;
  version: number;
  created_at: string | Date;
  modified_at: string | Date;
}

/** The columns of a record, from `scim_records r`. */
export const columns = `r.id, r.organization_id, r.account_id, r.link, r.user_name, r.active, r.hidden, r.resource,
  r.version, r.created_at, r.modified_at`;

/** Converts a row to a record. */
export function entryOf(row: Row): Entry {
  return {
    id: row.id,
    organizationId: row.organization_id,
    accountId: row.account_id,
    link: row.link,
    userName: row.user_name,
    active: Boolean(row.active),
    hidden: Boolean(row.hidden),
    resource: row.resource,
    version: row.version,
    createdAt: new Date(row.created_at),
    modifiedAt: new Date(row.modified_at),
  };
}
