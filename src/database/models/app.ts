import type { Account } from './account.ts';
import { column, rowOf } from './columns.ts';
import type { Organization } from './organization.ts';

/**
 * An OAuth app: a confidential client that acts as its owner (spec §2.8). When an app is revoked,
 * its row is deleted.
 */
export class OAuthApp extends rowOf(
  'apps',
  {
    id: column.key(),
    /** The account that owns the app. */
    accountId: column.to('accounts'),
    /** The organization whose members' tokens the app may introspect (security O9). */
    organizationId: column.optional(column.to('organizations', 'SET NULL')),
    name: column.string(),
    clientId: column.string(),
    /** SHA-256 of the client secret, in hex. */
    secretHash: column.string(),
    createdAt: column.date(),
    /** When a restore suspended the app. A new secret ends the suspension. */
    suspendedAt: column.optional(column.date()),
    /**
     * The organization whose provider was the only proof of the session that created the secret;
     * else null (security P12).
     */
    vouchedBy: column.optional(column.uuid()),
    /** Whether the secret was created in a session, or by a token, with this mark (security I8). */
    unapproved: column.withDefault(column.flag(), false),
  },
  () => [
    column.unique('apps_client_id', ['client_id']),
    column.unique('apps_secret_hash', ['secret_hash']),
    column.index('apps_account_id', ['account_id', 'id']),
    column.index('apps_organization_id', ['organization_id']),
  ],
) {
  declare account: Account;
  /** Present only if the query included it. Null if the app does not have one. */
  declare organization: Organization | null | undefined;
}
