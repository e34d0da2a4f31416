import type { Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/**
 * The purpose of a mailed code: to verify a new account's address, to sign in, or to reset the
 * password.
 */
export type CodePurpose = 'verify' | 'signin' | 'reset';

/** The last code mailed to an account for one purpose (security P10). */
export class MailCode extends Row<MailCode> {
  declare accountId: string;
  declare purpose: CodePurpose;
  /** A keyed hash of the code, its account and its purpose. */
  declare hash: string;
  /** The number of codes that were compared with the hash. */
  declare tries: number;
  declare expiresAt: Date;
}

/** Binds the model to the open database. */
export function initMailCode(sequelize: Sequelize): void {
  MailCode.init(
    {
      accountId: column.key(column.to('accounts')),
      purpose: column.key(column.string()),
      hash: column.string(),
      tries: column.integer(),
      expiresAt: column.date(),
    },
    table(sequelize, 'mail_codes', [column.index('mail_codes_expires_at', ['expires_at'])]),
  );
}
