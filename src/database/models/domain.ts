import { column, rowOf } from './columns.ts';

/** A domain that an organization has claimed or verified (spec §2.1). */
export class Domain extends rowOf(
  'domains',
  {
    id: column.key(),
    organizationId: column.to('organizations'),
    /** In canonical form. */
    name: column.string(),
    state: column.string<'Pending' | 'Verified'>(),
    token: column.string(),
    verifiedAt: column.optional(column.date()),
    verifiedBy: column.optional(column.string<'dns' | 'operator'>()),
    createdAt: column.date(),
  },
  () => [
    column.unique('domains_organization_name', ['organization_id', 'name']),
    column.unique('domains_verified_name', ['name'], { state: 'Verified' }),
  ],
) {}
