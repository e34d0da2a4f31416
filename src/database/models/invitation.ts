import type { CreationOptional, NonAttribute, Sequelize } from 'sequelize';
import {
  index,
  instantColumn,
  key,
  optional,
  Row,
  table,
  textColumn,
  to,
  unique,
} from './columns.ts';
import type { Role } from './membership.ts';
import type { Organization } from './organization.ts';

/** An invitation of an address into an organization (security O6). It is valid once. */
export class Invitation extends Row<Invitation> {
  declare id: string;
  declare organizationId: string;
  /** Canonical. */
  declare email: string;
  declare role: Role;
  /** The inviting account, or null for the operator. */
  declare invitedBy: string | null;
  /** SHA-256 in hex. */
  declare tokenHash: string;
  /** The account that signed up with it, or accepted it. */
  declare accountId: CreationOptional<string | null>;
  declare acceptedAt: CreationOptional<Date | null>;
  declare createdAt: Date;
  declare expiresAt: Date;
  /** Present only if the query included it. */
  declare organization: NonAttribute<Organization>;
}

/** Binds the model to the open database. */
export function initInvitation(sequelize: Sequelize): void {
  Invitation.init(
    {
      id: key(),
      organizationId: to('organizations'),
      email: textColumn(),
      role: textColumn(),
      invitedBy: optional(to('accounts')),
      tokenHash: textColumn(),
      accountId: optional(to('accounts')),
      acceptedAt: optional(instantColumn()),
      createdAt: instantColumn(),
      expiresAt: instantColumn(),
    },
    table(sequelize, 'invitations', [
      unique('invitations_organization_email', ['organization_id', 'email']),
      unique('invitations_token_hash', ['token_hash']),
      index('invitations_organization_id', ['organization_id', 'id']),
      index('invitations_invited_by', ['invited_by']),
      index('invitations_account_id', ['account_id']),
      index('invitations_expires_at', ['expires_at']),
    ]),
  );
}
