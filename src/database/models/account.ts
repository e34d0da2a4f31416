import { type CreationOptional, Op, type Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/**
 * The proof of an account's e-mail (security I3). `auto` is set by an instance that sends no mail:
 * it shows as verified, but proves nothing. `former domain` is the proof of an organization that
 * has given up the domain. It holds until another organization verifies the domain.
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
  /** Canonical; null for a provisioned person without an address. */
  declare email: string | null;
  declare emailProof: EmailProof;
  declare name: string;
  declare locale: CreationOptional<string>;
  /** The argon2id hash, or null if no password was ever set. */
  declare passwordHash: CreationOptional<string | null>;
  declare disabledAt: CreationOptional<Date | null>;
  /** Sealed. Set from the start of an enrolment until the second factor is disabled. */
  declare totpSecret: CreationOptional<string | null>;
  declare totpStartedAt: CreationOptional<Date | null>;
  /** When a code confirmed the secret. From then on sign-in asks for a code. */
  declare totpEnabledAt: CreationOptional<Date | null>;
  /** The last time step with an accepted code: no code is accepted twice (RFC 6238 §5.2). */
  declare totpLastStep: CreationOptional<number | null>;
  /** The organization whose provider alone began the session that enrolled it (security P12). */
  declare totpVouchedBy: CreationOptional<string | null>;
  /** Whether it has passkeys. Only `people/passkeys` writes it, in the same transaction. */
  declare hasPasskey: CreationOptional<boolean>;
  /**
   * The last sign-up for this account while it existed with an unverified address (security P11).
   */
  declare signUpReplacedAt: CreationOptional<Date | null>;
  /**
   * Whether the account waits for the code mailed at sign-up. No setting verifies it instead
   * (security I3).
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
      // The beginning of a sealed value names the key. In the order of the bytes.
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

/** Whether the address was proved to be the account's; `auto` is no proof (security I3). */
export function isProved({ emailProof }: Pick<Account, 'emailProof'>): boolean {
  return emailProof !== 'none' && emailProof !== 'auto';
}

/** Whether the proof holds against others: one by a former owner of the domain does not. */
export function isProvedForGood(account: Pick<Account, 'emailProof'>): boolean {
  return isProved(account) && account.emailProof !== 'former domain';
}
