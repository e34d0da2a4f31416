import type { Sequelize } from 'sequelize';
import {
  flag,
  instantColumn,
  key,
  optional,
  Row,
  table,
  textColumn,
  to,
  unique,
} from './columns.ts';

/** An organization's OpenID Connect connection (spec §2.2). */
export class SsoConnection extends Row<SsoConnection> {
  declare id: string;
  declare organizationId: string;
  /** Canonical; null once another organization has verified it. */
  declare emailDomain: string | null;
  declare issuer: string;
  declare clientId: string;
  /** Sealed. */
  declare clientSecret: string;
  /** Null means the instance's own callback. */
  declare redirectUri: string | null;
  declare enabled: boolean;
  declare syncOnLogin: boolean;
  declare groupsClaim: string;
  declare autoRemove: boolean;
  declare absentGroups: 'unknown' | 'none';
  declare ignoreEmailVerified: boolean;
  declare requireLocalTwoFactor: boolean;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initSsoConnection(sequelize: Sequelize): void {
  SsoConnection.init(
    {
      id: key(),
      organizationId: to('organizations'),
      emailDomain: optional(textColumn()),
      issuer: textColumn(),
      clientId: textColumn(),
      clientSecret: textColumn(),
      redirectUri: optional(textColumn()),
      enabled: flag(),
      syncOnLogin: flag(),
      groupsClaim: textColumn(),
      autoRemove: flag(),
      absentGroups: textColumn(),
      ignoreEmailVerified: flag(),
      requireLocalTwoFactor: flag(),
      createdAt: instantColumn(),
    },
    table(sequelize, 'sso_connections', [
      unique('sso_connections_organization_id', ['organization_id']),
      unique('sso_connections_enabled_domain', ['email_domain'], { enabled: true }),
    ]),
  );
}
