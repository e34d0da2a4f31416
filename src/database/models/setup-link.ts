import { column, rowOf } from './columns.ts';
import type { EventActor } from './event.ts';

/** The parts of an organization that a setup link can open. */
export const setupParts = ['domain', 'sso', 'ldap', 'scim'] as const;
export type SetupPart = (typeof setupParts)[number];

/**
 * A link with which a person without an account sets up parts of an organization (security O13). It
 * is bound to the first browser that opens it.
 */
export class SetupLink extends rowOf(
  'setup_links',
  {
    id: column.key(),
    organizationId: column.to('organizations'),
    /** The hash of the token in the URL. */
    tokenHash: column.string(),
    parts: column.json<SetupPart[]>(),
    /** The address that the link is for, in canonical form. */
    email: column.optional(column.string()),
    madeBy: column.json<EventActor>(),
    /** The owner who made it; null for the operator. */
    accountId: column.optional(column.to('accounts')),
    createdAt: column.date(),
    expiresAt: column.date(),
    /** The hash of the secret of the browser that opened it; null before. */
    browserHash: column.optional(column.string()),
    claimedAt: column.optional(column.date()),
  },
  () => [
    column.unique('setup_links_token_hash', ['token_hash']),
    column.unique('setup_links_browser_hash', ['browser_hash']),
    column.index('setup_links_organization_id', ['organization_id', 'id']),
    column.index('setup_links_account_id', ['account_id']),
    column.index('setup_links_expires_at', ['expires_at']),
  ],
) {}
