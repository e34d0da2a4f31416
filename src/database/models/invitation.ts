import type { CreationOptional, NonAttribute, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';
import type { Role } from './membership.ts';
import type { Organization } from './organization.ts';

/** An invitation of an e-mail address to an organization (security O6). It is valid once. */
export class Invitation extends Row<Invitation> {
  declare id: string;
  declare organizationId: string;
  /** In canonical form. */
  declare email: string;
  declare role: Role;
  /** The account that invites; null for the operator. */
  declare invitedBy: string | null;
  /** SHA-256 of the token, in hex. */
  declare tokenHash: string;
  /** The account that signed up with the invitation, or accepted it. */
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
      id: column.key(),
      organizationId: column.to('organizations'),
      email: column.string(),
      role: column.string(),
      invitedBy: column.optional(column.to('accounts')),
      tokenHash: column.string(),
      accountId: column.optional(column.to('accounts')),
      acceptedAt: column.optional(column.date()),
      createdAt: column.date(),
      expiresAt: column.date(),
    },
    table(sequelize, 'invitations', [
      column.unique('invitations_organization_email', ['organization_id', 'email']),
      column.unique('invitations_token_hash', ['token_hash']),
      column.index('invitations_organization_id', ['organization_id', 'id']),
      column.index('invitations_invited_by', ['invited_by']),
      column.index('invitations_account_id', ['account_id']),
      column.index('invitations_expires_at', ['expires_at']),
    ]),
  );
}
