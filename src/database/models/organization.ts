import { column, rowOf } from './columns.ts';

/** A workspace: it has members, verified domains and connections. */
export class Organization extends rowOf(
  'organizations',
  {
    id: column.key(),
    /** Lower case, unique, and never in the form of a UUID. */
    slug: column.string(),
    name: column.string(),
    createdAt: column.date(),
  },
  () => [column.unique('organizations_slug', ['slug'])],
) {}
