import { column, rowOf } from './columns.ts';

/**
 * An address that a removed person has given up. No sign-in may add the next account of the address
 * to the organization (security I5).
 */
export class FormerAddress extends rowOf(
  'former_addresses',
  {
    organizationId: column.key(column.to('organizations')),
    /** The HMAC of the canonical address under a key of the instance. */
    hash: column.key(column.string()),
    createdAt: column.date(),
  },
  () => [column.index('former_addresses_hash', ['hash'])],
) {}
