import type { Kinds } from '../../../../database/columns.ts';
import { fold, type Names, userNames } from '../../../foundation/scim-user/names.ts';
import { columns, type Entry, kinds } from '../../../tenancy/scim-records/record.sql.ts';
import type { Key } from '../filter-keys.ts';

/** A table that is listed under the alias `r`, and the way to read its rows. */
export interface Listing<Row extends object> {
  names: Names;
  table: string;
  columns: string;
  kinds: Kinds<Row>;
  /** The condition on rows that clients see. */
  visible: string;
  /** The table and indexed column to look up each key. */
  places: Partial<Record<Key['column'], KeyColumn>>;
}

interface KeyColumn {
  from: string;
  by: string;
  /** The column with the id of the listed row. */
  row: string;
  /** Whether the value is an id. PostgreSQL cannot compare ids with other texts. */
  isId?: true;
  stored?: (value: string) => string;
}

/** The settings of a column of ids. Ids are stored in lower case. */
export const ofIds = { isId: true, stored: (id: string) => id.toLowerCase() } as const;

/** The Users of an organization. */
export const userListing: Listing<Entry> = {
  names: userNames,
  table: 'scim_records',
  columns,
  kinds,
  visible: 'r.hidden = false',
  places: {
    id: { from: 'scim_records', by: 'id', row: 'id', ...ofIds },
    userName: { from: 'scim_records', by: 'user_name_canonical', row: 'id', stored: fold },
    externalId: { from: 'scim_records', by: 'external_id', row: 'id' },
    email: { from: 'scim_emails', by: 'value_canonical', row: 'record_id', stored: fold },
    group: { from: 'scim_group_members', by: 'group_id', row: 'record_id', ...ofIds },
  },
};
