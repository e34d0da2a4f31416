import type { ConnectionKindName } from '../../connection-kinds.ts';
import type { Account } from './account.ts';
import { column, rowOf } from './columns.ts';

/**
 * An external identity linked to an account, with the key (connection, issuer, subject) (security
 * I1). When its connection is removed, it stays as a former key of the organization.
 */
export class Identity extends rowOf(
  'identities',
  {
    id: column.key(),
    accountId: column.to('accounts'),
    kind: column.string<ConnectionKindName | 'social'>(),
    /** The SSO or LDAP connection, or the name of the social provider. */
    connectionId: column.string(),
    /** The organization of the connection; null for social sign-in. */
    organizationId: column.optional(column.to('organizations')),
    issuer: column.string(),
    subject: column.string(),
    /**
     * The host of the directory that gave the key. With SAML, `saml` and the attribute that is the
     * subject, if it is not the NameID. Null for OpenID Connect and social sign-in.
     */
    server: column.optional(column.string()),
    linkedAt: column.date(),
    /**
     * Whether the key was linked through a connection that no owner had approved, or in a session
     * with this mark (security I8).
     */
    unapproved: column.withDefault(column.flag(), false),
    /** The groups sent at the last sign-in; null if they were unknown. */
    lastGroups: column.optional(column.json<string[]>()),
    /** When groups were last synced; null before the first sync. */
    groupsSyncedAt: column.optional(column.date()),
    /** The groups that were last known and applied. Later plans use them. */
    knownGroups: column.optional(column.json<string[]>()),
  },
  () => [
    column.unique('identities_key', ['connection_id', 'issuer', 'subject']),
    column.unique('identities_connection_account', ['connection_id', 'account_id']),
    column.index('identities_account_id', ['account_id']),
    column.index('identities_organization_subject', ['organization_id', 'subject']),
  ],
) {
  /** Present only if the query included it. */
  declare account: Account;
}
