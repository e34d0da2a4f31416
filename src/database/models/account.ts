import { type CreationOptional, Op, type Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/**
 * The proof of an account's e-mail address (security I3). `auto` is set by an instance that sends
 * no mail: the address shows as verified, but this proves nothing. `former domain`: an organization
 * that has given up the domain proved it. It is valid until another organization verifies the
 * domain.
 */
export const emailProofs = [
  'none',
  'auto',
  'mail',
  'domain',
  'former domain',
  'operator',
  'social',
] as const;
/** One of `emailProofs`. */
export type EmailProof = (typeof emailProofs)[number];

/** The default language of an account. */
export const defaultLocale = 'en';

/** One person on the instance. */
export class Account extends Row<Account> {
  declare id: string;
  /** In canonical form. Null for a provisioned person without an address. */
  declare email: string | null;
  declare emailProof: EmailProof;
  declare name: string;
  declare locale: CreationOptional<string>;
  /** The argon2id hash, or null if no password was ever set. */
  declare passwordHash: CreationOptional<string | null>;
  declare disabledAt: CreationOptional<Date | null>;
  /** Sealed. Set when enrolment starts, until the second factor is disabled. */
  declare totpSecret: CreationOptional<string | null>;
  declare totpStartedAt: CreationOptional<Date | null>;
  /** When a code confirmed the secret. From then on, sign-in requires a code. */
  declare totpEnabledAt: CreationOptional<Date | null>;
  /** The last time step with an accepted code: no code is accepted twice (RFC 6238 §5.2). */
  declare totpLastStep: CreationOptional<number | null>;
  /** If only an organization's provider authenticated the enrolling session: it (security P12). */
  declare totpVouchedBy: CreationOptional<string | null>;
  /** Whether the account has passkeys. Only `people/passkeys` writes this, with the passkeys. */
  declare hasPasskey: CreationOptional<boolean>;
  /** When a sign-up last replaced this account while its address was unverified (security P11). */
  declare signUpReplacedAt: CreationOptional<Date | null>;
  /**
   * Whether the account waits for the code mailed at sign-up. No setting may verify such an address
   * without the code (security I3).
   */
  declare awaitsCode: CreationOptional<boolean>;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initAccount(sequelize: Sequelize): void {
  const collate = sequelize.getDialect() === 'sqlite' ? 'BINARY' : 'C';
  Account.init(
    {
      id: column.key(),
      email: column.optional(column.string()),
      emailProof: column.string(),
      name: column.string(),
      locale: column.withDefault(column.string(), defaultLocale),
      passwordHash: column.optional(column.string()),
      disabledAt: column.optional(column.date()),
      totpSecret: column.optional(column.string()),
      totpStartedAt: column.optional(column.date()),
      totpEnabledAt: column.optional(column.date()),
      totpLastStep: column.optional(column.integer()),
      totpVouchedBy: column.optional(column.uuid()),
      hasPasskey: column.withDefault(column.flag(), false),
      signUpReplacedAt: column.optional(column.date()),
      awaitsCode: column.withDefault(column.flag(), false),
      createdAt: column.date(),
    },
    table(sequelize, 'accounts', [
      column.unique('accounts_email', ['email']),
      column.index('accounts_unproved', ['id'], {
        email_proof: 'none',
        password_hash: { [Op.ne]: null },
      }),
      // A sealed value starts with the id of its key. Sorting by bytes keeps each key's values
      // together.
      column.index('accounts_sealed', [{ name: 'totp_secret', collate }], {
        totp_secret: { [Op.ne]: null },
      }),
    ]),
  );
}

/** Whether sign-in asks the account for a second factor: an authenticator app or a passkey. */
export function hasSecondFactor({
  totpEnabledAt,
  hasPasskey,
}: Pick<Account, 'totpEnabledAt' | 'hasPasskey'>): boolean {
  return totpEnabledAt !== null || hasPasskey;
}
