import { column, rowOf } from './columns.ts';
import type { EventActor } from './event.ts';

/** The protocols of single sign-on. */
export const ssoKinds = ['oidc', 'saml'] as const;
export type SsoKind = (typeof ssoKinds)[number];

/** A certificate with which a SAML provider signs, as its metadata has it. */
interface StoredCertificate {
  pem: string;
  fingerprint: string;
  /** The end of its validity, as RFC 3339. */
  notAfter: string;
}

/** The part of a SAML provider's metadata that idctl uses. */
export interface StoredMetadata {
  entityId: string;
  ssoUrl: string;
  binding: 'redirect' | 'post';
  certificates: StoredCertificate[];
  wantsSignedRequests: boolean;
}

/** An organization's single sign-on connection (spec §2.2), by OpenID Connect or SAML. */
export class SsoConnection extends rowOf(
  'sso_connections',
  {
    id: column.key(),
    organizationId: column.to('organizations'),
    /** In canonical form. Null once another organization has verified the domain. */
    emailDomain: column.optional(column.string()),
    kind: column.withDefault(column.string<SsoKind>(), 'oidc'),
    /** With SAML, the entity ID of the provider. */
    issuer: column.string(),
    /** Empty with SAML. */
    clientId: column.string(),
    /** Sealed; an empty secret with SAML. */
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
    /** Where the metadata of a SAML provider is read daily; null if it was given as text. */
    metadataUrl: column.optional(column.string()),
    /** The metadata of a SAML provider, with which `issuer` agrees. Null with OpenID Connect. */
    metadata: column.optional(column.json<StoredMetadata>()),
    metadataReadAt: column.optional(column.date()),
    /** When the daemon last tried to read the metadata, also in vain; null if it never did. */
    metadataTriedAt: column.optional(column.date()),
    /** The attributes to read; null for the usual ones. */
    emailAttribute: column.optional(column.string()),
    groupsAttribute: column.optional(column.string()),
    /** The attribute that identifies the person; null for the NameID. */
    subjectAttribute: column.optional(column.string()),
    encryptAssertions: column.withDefault(column.flag(), false),
    /** Whether an owner or the operator has approved where the connection points (security I8). */
    approved: column.withDefault(column.flag(), false),
    /** Where it pointed when it was last approved. Null while approved, and if it never was. */
    lastApproved: column.optional(column.json<Record<string, string | boolean | null>>()),
    /**
     * When a SAML connection that is unapproved now got its provider; null if an owner approved
     * that provider. Keys that were linked earlier do not count until an approval (security I1).
     */
    keysSince: column.optional(column.date()),
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
