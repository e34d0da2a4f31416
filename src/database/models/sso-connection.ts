import { column, rowOf } from './columns.ts';
import type { EventActor } from './event.ts';

/** An organization's OpenID Connect connection (spec §2.2). */
export class SsoConnection extends rowOf(
  'sso_connections',
  {
    id: column.key(),
    organizationId: column.to('organizations'),
    /** In canonical form. Null once another organization has verified the domain. */
    emailDomain: column.optional(column.string()),
    issuer: column.string(),
    clientId: column.string(),
    /** Sealed. */
    clientSecret: column.string(),
    /** Null for the callback URL of the instance. */
    redirectUri: column.optional(column.string()),
    enabled: column.flag(),
    syncOnLogin: column.flag(),
    groupsClaim: column.string(),
    autoRemove: column.flag(),
    absentGroups: column.string<'unknown' | 'none'>(),
    ignoreEmailVerified: column.flag(),
    requireLocalTwoFactor: column.flag(),
    /** Whether an owner or the operator has approved where the connection points (security I8). */
    approved: column.withDefault(column.flag(), false),
    /** Where it pointed when it was last approved. Null while approved, and if it never was. */
    lastApproved: column.optional(column.json<Record<string, string | boolean | null>>()),
    /** Who last changed where it points; null if unknown. */
    changedBy: column.optional(column.json<EventActor>()),
    /** Whether an owner or the operator switched it off. */
    offByOwner: column.withDefault(column.flag(), false),
    createdAt: column.date(),
  },
  () => [
    column.unique('sso_connections_organization_id', ['organization_id']),
    column.unique('sso_connections_enabled_domain', ['email_domain'], { enabled: true }),
  ],
) {}
