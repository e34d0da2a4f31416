import { fold, type Names, userNames } from '../../../foundation/scim-user/names.ts';
import { columns, type Entry, entryOf, type Row } from '../../../tenancy/scim-records/record.ts';
import type { Key } from '../filter-keys.ts';

/** A table that is listed as `r`, and how its rows are read. */
export interface Listing<Stored extends object, Shown> {
  names: Names;
  table: string;
  columns: string;
  read(row: Stored): Shown;
  /** The condition on rows that clients see. */
  visible: string;
  /** The table and index to find a key's rows with. */
  places: Partial<Record<Key['column'], Place>>;
}

interface Place {
  from: string;
  by: string;
  /** The column with the id of the listed row. */
  row: string;
  /** Whether the value is an id, which PostgreSQL does not compare with other texts. */
  isId?: true;
  stored?: (value: string) => string;
}

/** A place of ids, in the form that they are stored in. */
export const ofIds = { isId: true, stored: (id: string) => id.toLowerCase() } as const;

/** The Users of an organization. */
export const userListing: Listing<Row, Entry> = {
  names: userNames,
  table: 'scim_records',
  columns,
  read: entryOf,
  visible: 'r.hidden = false',
  places: {
    id: { from: 'scim_records', by: 'id', row: 'id', ...ofIds },
    userName: { from: 'scim_records', by: 'user_name_canonical', row: 'id', stored: fold },
    externalId: { from: 'scim_records', by: 'external_id', row: 'id' },
    email: { from: 'scim_emails', by: 'value_canonical', row: 'record_id', stored: fold },
    group: { from: 'scim_group_members', by: 'group_id', row: 'record_id', ...ofIds },
  },
};
