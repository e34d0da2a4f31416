import type { CreationOptional, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** A WebAuthn credential of an account. */
export class Passkey extends Row<Passkey> {
  declare id: string;
  declare accountId: string;
  declare name: string;
  /** The credential id from the authenticator, in base64url. */
  declare credentialId: string;
  /** The COSE public key, in base64url. */
  declare publicKey: string;
  /** The last signature counter, an unsigned 32-bit number. */
  declare counter: number;
  declare transports: string[];
  /** Whether the authenticator can copy the credential to other devices, and whether it has. */
  declare backupEligible: boolean;
  declare backedUp: boolean;
  /**
   * Whether the passkey can sign in without a password. Otherwise it is only a second factor. Null
   * until the authenticator has shown which (security P16).
   */
  declare signsIn: CreationOptional<boolean | null>;
  /** If only an organization's provider authenticated the adding session: it (security P12). */
  declare vouchedBy: string | null;
  declare createdAt: Date;
  declare lastUsedAt: CreationOptional<Date | null>;
}

/** Binds the model to the open database. */
export function initPasskey(sequelize: Sequelize): void {
  Passkey.init(
    {
      id: column.key(),
      accountId: column.to('accounts'),
      name: column.string(),
      credentialId: column.string(),
      publicKey: column.string(),
      counter: column.number(),
      transports: column.json(),
      backupEligible: column.flag(),
      backedUp: column.flag(),
      signsIn: column.optional(column.flag()),
      vouchedBy: column.optional(column.uuid()),
      createdAt: column.date(),
      lastUsedAt: column.optional(column.date()),
    },
    table(sequelize, 'passkeys', [
      column.unique('passkeys_credential_id', ['credential_id']),
      column.index('passkeys_account_id', ['account_id']),
    ]),
  );
}
