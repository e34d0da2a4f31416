import type { CreationOptional, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** A WebAuthn credential of an account. */
export class Passkey extends Row<Passkey> {
  declare id: string;
  declare accountId: string;
  declare name: string;
  /** The authenticator's id of the credential, in base64url. */
  declare credentialId: string;
  /** The COSE public key, in base64url. */
  declare publicKey: string;
  /** The last signature counter, of 32 bits without a sign. */
  declare counter: number;
  declare transports: string[];
  /** Whether the authenticator may copy the credential to other devices, and whether it has. */
  declare backupEligible: boolean;
  declare backedUp: boolean;
  /**
   * Whether it signs in alone; otherwise it is only a second factor. Null until the authenticator
   * has shown it (security P16).
   */
  declare signsIn: CreationOptional<boolean | null>;
  /** The organization whose provider alone began the session that added it (security P12). */
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
