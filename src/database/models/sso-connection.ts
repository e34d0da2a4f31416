import type { Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** An organization's OpenID Connect connection (spec §2.2). */
export class SsoConnection extends Row<SsoConnection> {
  declare id: string;
  declare organizationId: string;
  /** In canonical form. Null once another organization has verified the domain. */
  declare emailDomain: string | null;
  declare issuer: string;
  declare clientId: string;
  /** Sealed. */
  declare clientSecret: string;
  /** Null for the callback URL of the instance. */
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
      id: column.key(),
      organizationId: column.to('organizations'),
      emailDomain: column.optional(column.string()),
      issuer: column.string(),
      clientId: column.string(),
      clientSecret: column.string(),
      redirectUri: column.optional(column.string()),
      enabled: column.flag(),
      syncOnLogin: column.flag(),
      groupsClaim: column.string(),
      autoRemove: column.flag(),
      absentGroups: column.string(),
      ignoreEmailVerified: column.flag(),
      requireLocalTwoFactor: column.flag(),
      createdAt: column.date(),
    },
    table(sequelize, 'sso_connections', [
      column.unique('sso_connections_organization_id', ['organization_id']),
      column.unique('sso_connections_enabled_domain', ['email_domain'], { enabled: true }),
    ]),
  );
}
