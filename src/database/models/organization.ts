import { column, rowOf } from './columns.ts';

/** An organization. It has members, verified domains and connections. */
export class Organization extends rowOf(
  'organizations',
  {
    id: column.key(),
    /** Lower case, unique, and never in UUID format. */
    slug: column.string(),
    name: column.string(),
    createdAt: column.date(),
    /** The account that created it. Null for the operator. It may have been deleted since. */
    createdBy: column.optional(column.uuid()),
  },
  () => [
    column.unique('organizations_slug', ['slug']),
    column.index('organizations_created_by', ['created_by']),
  ],
) {}
