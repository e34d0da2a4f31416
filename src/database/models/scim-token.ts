import { column, rowOf } from './columns.ts';

/** The SCIM token of an organization (spec §2.4). When the token is revoked, its row is deleted. */
export class ScimToken extends rowOf(
  'scim_tokens',
  {
    organizationId: column.key(column.to('organizations')),
    prefix: column.string(),
    /** SHA-256 of the value, in hex. */
    hash: column.string(),
    createdAt: column.date(),
    /** Written at most once a minute, so it may be a minute old. */
    lastUsedAt: column.optional(column.date()),
    /** When a restore suspended the token. A new value ends the suspension. */
    suspendedAt: column.optional(column.date()),
  },
  () => [column.unique('scim_tokens_hash', ['hash'])],
) {}
