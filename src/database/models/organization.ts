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
  },
  () => [column.unique('organizations_slug', ['slug'])],
) {}
