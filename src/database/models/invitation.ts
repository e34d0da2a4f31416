import { column, rowOf } from './columns.ts';
import type { Role } from './membership.ts';
import type { Organization } from './organization.ts';

/**
 * An invitation, sent to an e-mail address, to join an organization (security O6). It is valid
 * once.
 */
export class Invitation extends rowOf(
  'invitations',
  {
    id: column.key(),
    organizationId: column.to('organizations'),
    /** In canonical form. */
    email: column.string(),
    role: column.string<Role>(),
    /** The account that invites; null for the operator. */
    invitedBy: column.optional(column.to('accounts')),
    /** SHA-256 of the token, in hex. */
    tokenHash: column.string(),
    /** The account that signed up with the invitation, or accepted it. */
    accountId: column.optional(column.to('accounts')),
    acceptedAt: column.optional(column.date()),
    createdAt: column.date(),
    expiresAt: column.date(),
  },
  () => [
    column.unique('invitations_organization_email', ['organization_id', 'email']),
    column.unique('invitations_token_hash', ['token_hash']),
    column.index('invitations_organization_id', ['organization_id', 'id']),
    column.index('invitations_invited_by', ['invited_by']),
    column.index('invitations_account_id', ['account_id']),
    column.index('invitations_expires_at', ['expires_at']),
  ],
) {
  /** Present only if the query included it. */
  declare organization: Organization;
}
