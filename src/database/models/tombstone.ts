import { column, rowOf } from './columns.ts';

/** A person who left or was removed from an organization. No sign-in may add them (security I5). */
export class Tombstone extends rowOf(
  'tombstones',
  {
    organizationId: column.key(column.to('organizations')),
    accountId: column.key(column.to('accounts')),
    setAt: column.date(),
  },
  () => [column.index('tombstones_account_id', ['account_id'])],
) {}
